/* SPDX-License-Identifier: Apache-2.0 */
/* Leader election between the replicas of a program, on a Lease (coordination.k8s.io/v1) as in
 * client-go: one of them leads, the others take over when it stops or fails.
 *
 *   ki_leader_options options = KI_OPTIONS_INIT(ki_leader_options);
 *   options.name_space = "shop";
 *   options.name = "website-controller";
 *   r = ki_leader_new(client, &options, &leader, &error);
 *   controller_options.leader = leader;       its workers process keys only while this one leads
 *   r = ki_leader_start(leader, &error);
 *
 * Informers and work queues run on all replicas, so a new leader begins with a synced cache.
 *
 * A leader is valid until `renew_deadline_ms` after it sent its last successful renewal, by the
 * monotonic clock of this machine. Other replicas wait until the Lease has not changed for its
 * duration, by theirs. So two replicas never lead at the same time, unless their clocks run at
 * speeds that differ by more than lease duration / renew deadline (1.5 by default), or another
 * client modifies the Lease. Differences between the times of machines do not matter.
 *
 * A thread may be paused between any check and its write. To keep this window small, get the term
 * when work begins and check it with ki_leader_holds() before each write; to close it, write with
 * the resourceVersion that was read (ki_client_update(), lock_version of edits): then the write of
 * a former leader is a conflict if the new one has changed the object.
 *
 * The clock stops while the machine is suspended: after a resume, a former leader may consider
 * itself valid for the rest of its deadline. */
#ifndef KINFORMER_LEADER_H
#define KINFORMER_LEADER_H

#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/str.h>

KI_BEGIN_DECLS

typedef struct ki_leader ki_leader;
typedef struct ki_client ki_client; /* <kinformer/client.h> */

/** Strings are copied. Durations are those of client-go by default. */
typedef struct ki_leader_options {
    size_t size;            /* see KI_OPTIONS_INIT */
    const char *name;       /* of the Lease; required */
    const char *name_space; /* of the Lease; NULL: that of the client's configuration */
    const char *identity;   /* of this replica, up to 255 bytes; no other may have the same. NULL:
                               host name and a random suffix */

    uint32_t lease_duration_ms; /* how long others wait before they take over; rounded up to
                                   seconds; 0: 15 s */
    uint32_t renew_deadline_ms; /* a leader that cannot renew its Lease for this long stops leading;
                                   shorter than the lease duration; 0: 10 s */
    uint32_t retry_period_ms;   /* between renewals, and between attempts; renew_deadline_ms must be
                                   at least 1.2 times as long; 0: 2 s */
    bool keep_on_stop;          /* do not release the Lease on stop: others wait until it expires */

    /* On the client's thread; each may be NULL. */
    void (*on_started)(int64_t term, void *user);            /* this replica leads */
    void (*on_stopped)(void *user);                          /* it does not lead any more */
    void (*on_new_leader)(const char *identity, void *user); /* any replica, this one included */
    void *user;
    void (*destroy)(void *user); /* called once, after the last callback; may be NULL */
} ki_leader_options;

/** Creates an election. It does nothing before ki_leader_start().
 *  Owner:  caller; release with ki_leader_close() or ki_leader_unref(). On success only, it owns
 *          `user`. The client must remain valid until it is closed.
 *  Thread: any.  Blocks: no.
 *  Errors: -EINVAL         no name; durations that do not fit together;
 *          KI_ERR_INVALID  an invalid name or namespace;  KI_ERR_LIMIT  identity too long;
 *          KI_ERR_STOPPED  the client's loop is stopped;  -ENOMEM, -E2BIG.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_leader_new(ki_client *client, const ki_leader_options *options,
                                      ki_leader **ret_leader, ki_error *error);

/** Takes and releases references. Releasing the last one stops the election, as ki_leader_stop().
 *  ki_leader_unref() always returns NULL; both accept NULL.
 *  Thread: any, including callbacks.  Blocks: no.  Since: 0.1 */
KI_API ki_leader *ki_leader_ref(ki_leader *leader);
KI_API ki_leader *ki_leader_unref(ki_leader *leader);

/** Starts the election. Failures to reach the server, or missing permissions (get, create, update
 *  and watch of the Lease), are logged and reported (on_report of ki_loop_options), and retried.
 *  Thread: any.  Blocks: no.
 *  Errors: KI_ERR_EXISTS  already started;  KI_ERR_STOPPED  it was stopped, or the loop was;
 *          -ENOMEM.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_leader_start(ki_leader *leader, ki_error *error);

/** Stops the election permanently. If this replica leads, it does not from this call on; then
 *  `on_stopped` is called, and the Lease is released, so that another replica can take over at
 *  once: stop controllers first. Accepts NULL.
 *  Thread: any, including callbacks.  Blocks: no.  Since: 0.1 */
KI_API void ki_leader_stop(ki_leader *leader);

/** Stops the election, waits until the Lease has been released, at most half of the renew deadline
 *  for each of two requests, and releases the reference. Inside callbacks it does not wait. Always
 *  returns NULL; accepts NULL.
 *  Thread: any.  Blocks: yes.  Since: 0.1 */
KI_API ki_leader *ki_leader_close(ki_leader *leader);

/** Returns whether this replica leads at this moment. NULL: false. Takes no lock; reads the clock.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API bool ki_leader_is(const ki_leader *leader);

/** Returns the term in which this replica leads, or -1 if it does not: leaseTransitions of the
 *  Lease, which grows each time another replica takes over.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API int64_t ki_leader_term(const ki_leader *leader);

/** Returns whether this replica still leads in `term`. False for -1.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API bool ki_leader_holds(const ki_leader *leader, int64_t term);

/** Returns the identity of this replica.
 *  Owner: borrowed, valid as long as `leader`.  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API const char *ki_leader_identity(const ki_leader *leader);

/** Appends the identity of the replica that leads, as far as known; nothing if there is none.
 *  Thread: any.  Blocks: no.  Errors: -ENOMEM, KI_ERR_LIMIT  of the buffer.  Since: 0.1 */
KI_API KI_NODISCARD int ki_leader_holder(ki_leader *leader, ki_buf *out);

KI_AUTO_DEFINE(ki_leader, ki_leader_close)

KI_END_DECLS

#endif
