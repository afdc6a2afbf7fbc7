/* SPDX-License-Identifier: Apache-2.0 */
/* Static probes for tracers such as bpftrace (USDT), of the provider "kinformer"; docs/tracing.md
 * lists them. They are compiled in if <sys/sdt.h> is there when the library is built, unless
 * KI__NO_PROBES is defined. A probe is one nop and a note in the library that names its arguments;
 * a tracer puts a breakpoint there.
 *
 *   KI__PROBE(relist, name, reason);                        arguments that are at hand
 *   if (KI__PROBE_IS_TRACED(event_delivered)) {             arguments that cost something
 *       KI__PROBE(event_delivered, name, key, type, age);
 *   } */
#ifndef KI_BASE_PROBE_H
#define KI_BASE_PROBE_H

#if defined(__has_include) && !defined(KI__NO_PROBES)
#if __has_include(<sys/sdt.h>)
#define KI__HAS_PROBES 1
#endif
#endif

#ifdef KI__HAS_PROBES
#define _SDT_HAS_SEMAPHORES 1
#define SDT_USE_VARIADIC 1
#include <sys/sdt.h>

/* A count of the tracers that are attached to a probe, written by the kernel. The tools expect
 * these names. */
#define KI__PROBE_SEMAPHORE(name)                               \
    extern volatile unsigned short kinformer_##name##_semaphore \
        __attribute__((section(".probes"), visibility("hidden")))
KI__PROBE_SEMAPHORE(batch_applied);
KI__PROBE_SEMAPHORE(bytes_received);
KI__PROBE_SEMAPHORE(event_decoded);
KI__PROBE_SEMAPHORE(event_delivered);
KI__PROBE_SEMAPHORE(relist);
KI__PROBE_SEMAPHORE(request_end);
KI__PROBE_SEMAPHORE(request_start);

#define KI__PROBE(name, ...) STAP_PROBEV(kinformer, name, __VA_ARGS__)
#define KI__PROBE_IS_TRACED(name) (__builtin_expect(kinformer_##name##_semaphore != 0, 0))

#else

/* Arguments count as used, and are not evaluated. */
static inline void ki__probe_nothing(int unused, ...)
{
    (void)unused;
}

#define KI__PROBE(name, ...)                   \
    do {                                       \
        if (0) {                               \
            ki__probe_nothing(0, __VA_ARGS__); \
        }                                      \
    } while (0)
#define KI__PROBE_IS_TRACED(name) (0)

#endif

#endif
