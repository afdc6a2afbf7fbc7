/* SPDX-License-Identifier: Apache-2.0 */
/* Reading your own writes: whether a cache is at least as new as the writes of this program.
 *
 * A write never touches the cache: the change arrives later, as an event of the watch. A controller
 * that reconciles a key before that decides on stale state, and may create an object twice.
 *
 *   r = ki_consistency_new(NULL, &consistency, &error);
 *   r = ki_consistency_add_informer(consistency, pods, &error);
 *   controller_options.consistency = consistency;
 *
 *   in reconcile(), after a write:
 *   r = ki_client_create(client, KI_CORE_V1_PODS, pod, &created, NULL, error);
 *   r = ki_consistency_wrote(consistency, pods, key, uid_of_owner,
 *                            ki_object_resource_version(created));
 *
 * The controller then does not reconcile `key` before the cache of pods has reached that version;
 * other keys are not delayed. Events and bookmarks of the watch advance a cache; no requests are
 * sent. Versions are compared as by ki_resource_version_compare().
 *
 * All of this requires informers with the default queue: with KI_QUEUE_DELTA_FIFO, the version of a
 * store can be ahead of its objects while changes are queued. */
#ifndef KINFORMER_CONSISTENCY_H
#define KINFORMER_CONSISTENCY_H

#include <kinformer/defs.h>
#include <kinformer/error.h>
#include <kinformer/informer.h>
#include <kinformer/object.h>
#include <kinformer/store.h>

KI_BEGIN_DECLS

/* Versions of caches */

/** Returns whether the store contains everything up to a resourceVersion of its resource. False if
 *  the version is not a decimal number, and before the first list.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API bool ki_store_is_at_least(ki_store *store, const char *resource_version);

/** Waits until the store of an informer is at least at `resource_version`; handlers may not have
 *  received the change yet. A `timeout_ms` of 0 only checks, UINT32_MAX waits forever.
 *  Thread: any; on the client's thread and inside callbacks only with a `timeout_ms` of 0.
 *  Blocks: yes.
 *  Errors: -ETIMEDOUT;  KI_ERR_STOPPED  the informer was stopped;
 *          KI_ERR_INVALID  resource_version is not a decimal number;
 *          KI_ERR_UNSUPPORTED  the informer has a KI_QUEUE_DELTA_FIFO;
 *          KI_ERR_BUSY  called on the client's thread or inside a callback, where it would wait
 *          forever.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_informer_wait_version(ki_informer *informer,
                                                 const char *resource_version, uint32_t timeout_ms,
                                                 ki_error *error);

/** Called once, on the client's thread, with no lock held. `result` is 0 if the version was
 *  reached, -ETIMEDOUT, or KI_ERR_STOPPED. */
typedef void (*ki_version_fn)(ki_informer *informer, int result, void *user);

/** As ki_informer_wait_version(), without blocking: `fn` is called with the result, never inside
 *  this call. A `timeout_ms` of UINT32_MAX waits until the informer stops.
 *  Owner:  on success `fn` is called exactly once; after an error it is not.
 *  Thread: any, including callbacks.  Blocks: no.
 *  Errors: KI_ERR_STOPPED  the informer is not running;  KI_ERR_LIMIT  more than 65,536 waits of
 *          this informer, or the version is too long;  KI_ERR_INVALID and KI_ERR_UNSUPPORTED as
 *          ki_informer_wait_version();  -ENOMEM.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_informer_on_version(ki_informer *informer, const char *resource_version,
                                               uint32_t timeout_ms, ki_version_fn fn, void *user,
                                               ki_error *error);

/* Records of writes */

typedef struct ki_consistency ki_consistency;

typedef struct ki_consistency_options {
    size_t size;           /* see KI_OPTIONS_INIT */
    const ki_alloc *alloc; /* NULL: the default; must outlive it */
    size_t max_writes;     /* records kept at the same time; 0: 65,536 */
} ki_consistency_options;

/** Creates an empty record of writes. `options` may be NULL.
 *  Owner:  caller; release with ki_consistency_unref().
 *  Thread: any.  Blocks: no.  Errors: -ENOMEM, -E2BIG.  Since: 0.1 */
KI_API KI_NODISCARD int ki_consistency_new(const ki_consistency_options *options,
                                           ki_consistency **ret_consistency, ki_error *error);

/** Takes and releases references. ki_consistency_unref() always returns NULL; both accept NULL.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API ki_consistency *ki_consistency_ref(ki_consistency *consistency);
KI_API ki_consistency *ki_consistency_unref(ki_consistency *consistency);

/** Adds the informer of a resource that is written. Its store, but not the informer, is kept.
 *  Thread: any.  Blocks: no.
 *  Errors: KI_ERR_EXISTS;  KI_ERR_UNSUPPORTED  the informer has a KI_QUEUE_DELTA_FIFO;
 *          KI_ERR_LIMIT  more than 64 informers;  -ENOMEM.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_consistency_add_informer(ki_consistency *consistency,
                                                    ki_informer *informer, ki_error *error);

/** Records a write that the server accepted: `key` is not current before the store of `informer`
 *  has reached `resource_version`, which is that of the object in the response. Of several writes,
 *  the newest counts.
 *
 *  `key` is any key, usually the one that is being reconciled. `uid` is the uid of the object that
 *  `key` names; "" or NULL if unknown. If it differs from that of earlier writes, the object was
 *  recreated, and records for the old uid are dropped.
 *
 *  Recording does not fail for lack of memory: if it is exhausted, or there are too many records,
 *  no key is current before the store has reached this version.
 *  Thread: any.  Blocks: no.
 *  Errors: KI_ERR_NOT_FOUND  the informer was not added;
 *          KI_ERR_INVALID  resource_version is not a decimal number;
 *          KI_ERR_LIMIT  it has more than 63 digits, or `key` or `uid` more than 1,023 bytes.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_consistency_wrote(ki_consistency *consistency, ki_informer *informer,
                                             const char *key, const char *uid,
                                             const char *resource_version);

/** Records a deletion that is about to be sent: `key` is not current before the store of `informer`
 *  has no object with the key and uid of `object`, or has it with a deletionTimestamp. `object` is
 *  the last known state of the object. Needed because the response to a deletion often has no
 *  resourceVersion; and in advance, so that no deletion is sent that cannot be recorded. If the
 *  request fails, call ki_consistency_clear().
 *  Thread: any.  Blocks: no.
 *  Errors: KI_ERR_NOT_FOUND, KI_ERR_INVALID, KI_ERR_LIMIT  as ki_consistency_wrote();
 *          KI_ERR_INVALID  the object has no uid;  KI_ERR_LIMIT  too many records;  -ENOMEM.
 *  Since:  0.1 */
KI_API KI_NODISCARD int ki_consistency_will_delete(ki_consistency *consistency,
                                                   ki_informer *informer, const char *key,
                                                   const char *uid, const ki_object *object);

/** Returns whether the caches are past all recorded writes of `key`; true for a key without any.
 *  Drops the records of writes that have arrived. If the state of a server went back, for example
 *  because a backup was restored, and its informer relisted, the records of that informer are
 *  dropped as well.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API bool ki_consistency_is_current(ki_consistency *consistency, const char *key);

/** Drops the records of `key`, for example after the object that it names was deleted. If `uid` is
 *  not NULL or "", only if they have this uid.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API void ki_consistency_clear(ki_consistency *consistency, const char *key, const char *uid);

/** Returns the number of records, including writes that have arrived since the last check of their
 *  key.
 *  Thread: any.  Blocks: no.  Since: 0.1 */
KI_API size_t ki_consistency_count(ki_consistency *consistency);

KI_AUTO_DEFINE(ki_consistency, ki_consistency_unref)

KI_END_DECLS

#endif
