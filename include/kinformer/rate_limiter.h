/* SPDX-License-Identifier: Apache-2.0 */
/* Rate limiters: how long a key that failed has to wait before it is tried again.
 *
 * A limiter is a table of functions, so a program can give its own. It reads no clock: whoever asks
 * says what time it is. Those made here may be used on any thread; they hold memory only for keys
 * that were asked about and not forgotten since, up to a limit, beyond which the key that was asked
 * about longest ago is forgotten.
 *
 * A limiter is a plain value. Whoever takes one over (a queue, another limiter) runs its destroy
 * function at the end; one that nobody took is ended with ki_rate_limiter_done(). */
#ifndef KINFORMER_RATE_LIMITER_H
#define KINFORMER_RATE_LIMITER_H

#include <kinformer/alloc.h>
#include <kinformer/clock.h>
#include <kinformer/defs.h>
#include <kinformer/str.h>

KI_BEGIN_DECLS

typedef struct ki_rate_limiter {
    /** How many nanoseconds `key` has to wait, counted as one more failure of it. `now_ns` is
     *  monotonic time. */
    uint64_t (*when)(ki_str key, uint64_t now_ns, void *user);
    /** The key is done with, be it for success or for good: its failures count no more. */
    void (*forget)(ki_str key, void *user);
    /** How often the key has failed since it was forgotten. */
    uint32_t (*requeues)(ki_str key, void *user);
    /** The wait that `when` gave for the key is not used: it is to come earlier anyway. What was
     *  reserved for it can be given to others. May be NULL. */
    void (*unused)(ki_str key, void *user);
    /** Runs once, at the end. May be NULL. */
    void (*destroy)(void *user);
    void *user;
} ki_rate_limiter;

/** What those that count failures by key share. */
typedef struct ki_rate_limiter_options {
    size_t size;             /* see KI_OPTIONS_INIT */
    const ki_alloc *alloc;   /* NULL: the default; must outlive the limiter */
    const ki_random *random; /* seeds the hash; NULL: from addresses, which an attacker may guess */
    size_t max_keys;         /* whose failures are counted at a time; 0: 2^20; most: 2^30 */
} ki_rate_limiter_options;

/* Makers. Times are in nanoseconds. `options` may be NULL.
 * Owner:  *ret_limiter, until something takes it over or ki_rate_limiter_done() ends it.
 * Thread: any.  Blocks: no.
 * Errors: -EINVAL  a limit that says nothing, as named below;  -ENOMEM, -E2BIG.
 * Since:  0.1 */

/** `base_ns` after the first failure of a key, twice as long after each further one, never more
 *  than `max_ns`. A key whose failures cannot be counted for want of memory waits `max_ns`.
 *  client-go: ItemExponentialFailureRateLimiter. Its item based default is 1 ms and 1000 s. */
KI_API KI_NODISCARD int ki_rate_limiter_exponential(uint64_t base_ns, uint64_t max_ns,
                                                    const ki_rate_limiter_options *options,
                                                    ki_rate_limiter *ret_limiter);

/** `fast_ns` for the first `fast_count` failures of a key, then `slow_ns`, which is also for keys
 *  that cannot be counted. client-go: ItemFastSlowRateLimiter. */
KI_API KI_NODISCARD int ki_rate_limiter_fast_slow(uint64_t fast_ns, uint64_t slow_ns,
                                                  uint32_t fast_count,
                                                  const ki_rate_limiter_options *options,
                                                  ki_rate_limiter *ret_limiter);

/** A bucket of `burst` tokens for all keys together, filled by one token each `interval_ns`.
 *  Whoever is asked about takes a token; when there are none, it waits for its own, behind all that
 *  were asked about before it. It knows no keys: forget does nothing, requeues are 0.
 *
 *  Beware: tokens are handed out in advance. Ask about more keys than tokens come for, and the
 *  waits grow without end. So rate limit retries only, never what comes from a watch; or set a
 *  bound with ki_rate_limiter_with_max_wait(). In client-go this happens with one key that is
 *  added again and again as well; here a token that was taken for a key that is delayed already is
 *  given back (`unused`).
 *  client-go: BucketRateLimiter. -EINVAL: `interval_ns` or `burst` is 0. */
KI_API KI_NODISCARD int ki_rate_limiter_bucket(uint64_t interval_ns, uint32_t burst,
                                               const ki_rate_limiter_options *options,
                                               ki_rate_limiter *ret_limiter);

/** Asks all and takes the longest wait; requeues are the most that one of them tells. The limiters
 *  are copied and taken over on success. client-go: MaxOfRateLimiter. -EINVAL: none, or more than
 *  64, or one with a function missing. */
KI_API KI_NODISCARD int ki_rate_limiter_max_of(const ki_rate_limiter *limiters, size_t count,
                                               const ki_rate_limiter_options *options,
                                               ki_rate_limiter *ret_limiter);

/** As `limiter`, which is taken over on success, but never more than `max_ns`. client-go:
 *  WithMaxWaitRateLimiter. -EINVAL: a function is missing. */
KI_API KI_NODISCARD int ki_rate_limiter_with_max_wait(const ki_rate_limiter *limiter,
                                                      uint64_t max_ns,
                                                      const ki_rate_limiter_options *options,
                                                      ki_rate_limiter *ret_limiter);

/** What controllers use: the longer of exponential (5 ms to 1000 s) and a bucket (10 in a second,
 *  100 at once). client-go: DefaultTypedControllerRateLimiter. */
KI_API KI_NODISCARD int ki_rate_limiter_default(const ki_rate_limiter_options *options,
                                                ki_rate_limiter *ret_limiter);

/** Runs the destroy function of a limiter that nothing has taken over, and clears it. Fine for one
 *  that is all zeros.
 *  Thread: one-at-a-time.  Blocks: no.  Since: 0.1 */
KI_API void ki_rate_limiter_done(ki_rate_limiter *limiter);

KI_END_DECLS

#endif
