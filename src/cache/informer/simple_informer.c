/* SPDX-License-Identifier: Apache-2.0 */
/* An informer that is not shared: queue, store and handler, one step at a time. The counterpart of
 * NewInformer and processLoop in client-go's controller.go.
 *
 * A batch for which there is no memory is put back into the queue, and the next step takes a single
 * key, which may fit. */
#include <errno.h>
#include <stdatomic.h>

#include <kinformer/parts/simple_informer.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/error.h"
#include "base/options.h"
#include "base/process.h"
#include "base/refs.h"
#include "cache/informer/apply_deltas.h"
#include "cache/informer/handler.h"

struct ki_simple_informer {
    const ki_alloc *alloc;
    ki__refs refs;
    uint64_t process; /* creating process */
    ki_queue *queue;
    ki_store *store;
    ki_handler handler;
    ki_error_hook on_error;
    size_t batch_keys;
    atomic_bool stopped;

    /* the current step */
    ki__applier applier;
    bool one_by_one; /* out of memory for more */
    int failure;     /* why the batch was put back, or 0 */
    ki_error error;
};

/* Creation and destruction */

static int make_store(ki_simple_informer *informer, const ki_simple_informer_options *o,
                      ki_error *error)
{
    int r = 0;
    if (o->store != NULL) {
        informer->store = ki_store_ref(o->store);
    } else {
        const ki_store_options options = {
            .size = sizeof(options), .alloc = o->alloc, .random = o->random};
        r = ki_store_new(&options, &informer->store, error);
    }
    if (r >= 0) {
        r = ki__applier_init(&informer->applier, informer->store, informer->alloc, error);
    }
    informer->applier.on_error = informer->on_error;
    informer->applier.keep_same_version = o->deliver_same_version;
    return r;
}

static int make_queue(ki_simple_informer *informer, const ki_simple_informer_options *o,
                      ki_error *error)
{
    ki_queue_options options = {
        .size = sizeof(options),
        .alloc = o->alloc,
        .random = o->random,
        .transform = o->transform,
        .transform_user = o->transform_user,
        .on_error = o->on_error,
        .max_deltas = o->max_deltas,
    };
    if (o->queue == KI_QUEUE_FIFO) {
        return ki_fifo_new(&options, &informer->queue, error);
    }
    options.known = informer->store;
    return ki_delta_fifo_new(&options, &informer->queue, error);
}

/* Creates the parts. Indexes are added last: the store owns them then, and nothing can fail. */
static int make(ki_simple_informer *informer, const ki_simple_informer_options *o, ki_error *error)
{
    int r = make_store(informer, o, error);
    if (r >= 0) {
        r = make_queue(informer, o, error);
    }
    if (r >= 0 && o->index_count != 0) {
        r = ki_store_add_indexes(informer->store, o->indexes, o->index_count, error);
    }
    return r;
}

static void destroy(ki_simple_informer *informer)
{
    (void)ki_queue_unref(informer->queue);
    ki__applier_done(&informer->applier);
    (void)ki_store_unref(informer->store);
    ki__free(informer->alloc, informer);
}

int ki_simple_informer_new(const ki_simple_informer_options *options,
                           ki_simple_informer **ret_informer, ki_error *error)
{
    KI__REQUIRE(ret_informer, error);
    ki_simple_informer_options o;
    int r = KI__TAKE(ki_simple_informer_options, &o, options, error);
    if (r < 0) {
        return r;
    }
    if (o.store != NULL && o.index_count != 0) {
        return ki__error_set(error, -EINVAL, "indexes: must be added to the given store");
    }
    if ((unsigned)o.queue >= KI_QUEUE_KIND_MAX) {
        return ki__error_set(error, -EINVAL, "queue: unknown kind of queue");
    }
    ki_handler handler;
    r = KI__TAKE(ki_handler, &handler, o.handler, error);
    ki_error_hook on_error;
    if (r >= 0) {
        r = KI__TAKE(ki_error_hook, &on_error, o.on_error, error);
    }
    if (r < 0) {
        return r;
    }
    const ki_alloc *alloc = ki__alloc_or_default(o.alloc);
    ki_simple_informer *informer = ki__alloc_zero(alloc, sizeof(*informer));
    if (informer == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    informer->alloc = alloc;
    informer->on_error = on_error;
    informer->batch_keys = o.batch_keys;
    informer->applier.alloc = alloc;
    ki__refs_init(&informer->refs);
    informer->process = ki__process();
    atomic_init(&informer->stopped, false);
    r = make(informer, &o, error);
    if (r < 0) {
        destroy(informer);
        return r;
    }
    informer->handler = handler;
    *ret_informer = informer;
    return 0;
}

ki_simple_informer *ki_simple_informer_ref(ki_simple_informer *informer)
{
    if (informer != NULL) {
        ki__refs_take(&informer->refs);
    }
    return informer;
}

ki_simple_informer *ki_simple_informer_unref(ki_simple_informer *informer)
{
    if (informer == NULL || !ki__refs_drop(&informer->refs) ||
        ki__is_inherited(informer->process)) {
        return NULL;
    }
    if (informer->handler.destroy != NULL) {
        informer->handler.destroy(informer->handler.user);
    }
    destroy(informer);
    return NULL;
}

ki_queue *ki_simple_informer_queue(const ki_simple_informer *informer)
{
    return informer->queue;
}

ki_store *ki_simple_informer_store(const ki_simple_informer *informer)
{
    return informer->store;
}

/* Processing */

static int process(const ki_deltas *deltas, void *user)
{
    ki_simple_informer *informer = user;
    informer->failure = ki__apply(&informer->applier, deltas, &informer->error);
    if (informer->failure < 0) {
        informer->one_by_one = informer->failure == -ENOMEM;
        return KI_POP_AGAIN;
    }
    informer->one_by_one = false;
    ki__note note;
    uint64_t left_out = 0; /* nothing is merged here */
    while (ki__apply_next(&informer->applier, &note)) {
        ki__handler_notify(&informer->handler, &note, false, &left_out);
    }
    ki__apply_end(&informer->applier);
    return KI_POP_DONE;
}

/* One step; the caller holds a reference. */
static int step(ki_simple_informer *informer, bool wait, ki_error *error)
{
    size_t keys = informer->one_by_one ? 1 : informer->batch_keys;
    int r = wait ? ki_queue_pop(informer->queue, keys, process, informer)
                 : ki_queue_poll(informer->queue, keys, process, informer);
    if (r < 0) {
        return ki__error_code(error, r);
    }
    if (r > 0 && informer->failure < 0) {
        if (error != NULL) {
            ki__error_copy(error, &informer->error);
        }
        return informer->failure;
    }
    return r;
}

int ki_simple_informer_step(ki_simple_informer *informer, bool wait, ki_error *error)
{
    KI__REQUIRE(informer, error);
    if (atomic_load(&informer->stopped)) {
        return ki__error_code(error, KI_ERR_STOPPED);
    }
    (void)ki_simple_informer_ref(informer); /* the handler may drop the last reference */
    int r = step(informer, wait, error);
    (void)ki_simple_informer_unref(informer);
    return r;
}

void ki_simple_informer_stop(ki_simple_informer *informer)
{
    if (informer == NULL) {
        return;
    }
    atomic_store(&informer->stopped, true);
    ki_queue_stop(informer->queue);
}

bool ki_simple_informer_has_synced(const ki_simple_informer *informer)
{
    return ki_queue_has_synced(informer->queue);
}
