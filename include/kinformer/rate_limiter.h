/* SPDX-License-Identifier: Apache-2.0 */
/* Rate limiters: how long a key that failed waits before it is retried.
 *
 * A limiter is a table of functions, so a program can provide its own. It reads no clock: the
 * caller passes the time. The limiters created here are thread-safe. They keep memory only for keys
 * that were passed to `when` and not forgotten since, up to a limit; beyond it, the least recently
 * used key is forgotten.
 *
 * A limiter is a plain value. Its new owner (a queue, another limiter) calls its destroy function
 * at the end; a limiter without a new owner is released with ki_rate_limiter_done(). */
#ifndef KINFORMER_RATE_LIMITER_H
#define KINFORMER_RATE_LIMITER_H

#include <kinformer/defs.h>
#include <kinformer/str.h>

KI_BEGIN_DECLS

typedef struct ki_rate_limiter {
    size_t size; /* see KI_OPTIONS_INIT */
    /** Counts one more failure of `key` and returns how long it must wait, in milliseconds.
     *  `now_ns` is the monotonic time. */
    uint64_t (*when)(ki_str key, uint64_t now_ns, void *user);
    /** Resets the failure count of a key that succeeded or was given up. */
    void (*forget)(ki_str key, void *user);
    /** Returns the number of failures of the key since it was forgotten. */
    uint32_t (*requeues)(ki_str key, void *user);
    /** The wait that `when` returned for the key is not used, because the key is retried earlier
     *  anyway. Its reservation can be released. May be NULL. */
    void (*unused)(ki_str key, void *user);
    /** Called once, at the end. May be NULL. */
    void (*destroy)(void *user);
    void *user;
} ki_rate_limiter;

/** Options of limiters that count failures per key. */
typedef struct ki_rate_limiter_options {
    size_t size;             /* see KI_OPTIONS_INIT */
    const ki_alloc *alloc;   /* NULL: the default; must outlive the limiter */
    const ki_random *random; /* hash seed; NULL: from addresses, which an attacker may guess */
    size_t max_keys;         /* limit of keys with a failure count; 0: 2^20; maximum: 2^30 */
} ki_rate_limiter_options;

/* Creating limiters. `options` may be NULL.
 * Owner:  caller, until ownership of *ret_limiter is passed on; release with
 *         ki_rate_limiter_done().
 * Thread: any.  Blocks: no.
 * Errors: -EINVAL  an invalid argument, as described below;  -ENOMEM, -E2BIG.
 * Since:  0.1 */

/** Creates a limiter with exponential backoff per key: `base_ms` after the first failure, twice as
 *  long after each further one, at most `max_ms`. A key whose failures cannot be counted because
 *  memory is exhausted waits `max_ms`. client-go: ItemExponentialFailureRateLimiter; the default of
 *  its item based limiter is 1 ms to 1000 s. */
KI_API KI_NODISCARD int ki_rate_limiter_exponential(uint64_t base_ms, uint64_t max_ms,
                                                    const ki_rate_limiter_options *options,
                                                    ki_rate_limiter *ret_limiter);

/** Creates a limiter with two delays per key: `fast_ms` for the first `fast_count` failures, then
 *  `slow_ms`, which is also used for keys that cannot be counted. client-go:
 *  ItemFastSlowRateLimiter. */
KI_API KI_NODISCARD int ki_rate_limiter_fast_slow(uint64_t fast_ms, uint64_t slow_ms,
                                                  uint32_t fast_count,
                                                  const ki_rate_limiter_options *options,
                                                  ki_rate_limiter *ret_limiter);

/** Creates a token bucket for all keys together: `burst` tokens, refilled by `qps` tokens
 *  per second. Each call of `when` takes a token; without tokens, the key waits for the next
 *  free one, behind all earlier keys. Keys are not distinguished: forget does nothing, requeues is
 *  always 0.
 *
 *  Tokens are reserved in advance: if keys are added faster than tokens, waits grow without limit.
 *  Therefore rate limit only retries, never events of a watch, or set a maximum with
 *  ki_rate_limiter_with_max_wait(). In client-go this also happens with a single key that is added
 *  repeatedly; here, the token taken for a key that is already delayed is released (`unused`).
 *  client-go: BucketRateLimiter. -EINVAL: `qps` is below 0.001 or above 10^9, or `burst` is 0. */
KI_API KI_NODISCARD int ki_rate_limiter_bucket(double qps, uint32_t burst,
                                               const ki_rate_limiter_options *options,
                                               ki_rate_limiter *ret_limiter);

/** Creates a limiter that returns the longest wait of several limiters, and the highest number of
 *  requeues. The limiters are copied, and owned by the new one on success. client-go:
 *  MaxOfRateLimiter. -EINVAL: none, more than 64, or one with a missing function. */
KI_API KI_NODISCARD int ki_rate_limiter_max_of(const ki_rate_limiter *const *limiters, size_t count,
                                               const ki_rate_limiter_options *options,
                                               ki_rate_limiter *ret_limiter);

/** Creates a limiter that limits the waits of another to `max_ms`; it owns `limiter` on success.
 *  client-go: WithMaxWaitRateLimiter. -EINVAL: a function is missing. */
KI_API KI_NODISCARD int ki_rate_limiter_with_max_wait(const ki_rate_limiter *limiter,
                                                      uint64_t max_ms,
                                                      const ki_rate_limiter_options *options,
                                                      ki_rate_limiter *ret_limiter);

/** Creates the default limiter for controllers: the longer wait of exponential backoff (5 ms to
 *  1000 s) and a token bucket (10 per second, burst 100). client-go:
 *  DefaultTypedControllerRateLimiter. */
KI_API KI_NODISCARD int ki_rate_limiter_default(const ki_rate_limiter_options *options,
                                                ki_rate_limiter *ret_limiter);

/** Calls the destroy function of a limiter that has no new owner, and clears it. The limiter may be
 *  zeroed.
 *  Thread: one-at-a-time.  Blocks: no.  Since: 0.1 */
KI_API void ki_rate_limiter_done(ki_rate_limiter *limiter);

KI_END_DECLS

#endif
