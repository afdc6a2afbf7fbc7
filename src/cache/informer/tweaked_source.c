/* SPDX-License-Identifier: Apache-2.0 */
/* Passes everything to the inner source, with changed options of lists and watches. */
#include "cache/informer/tweaked_source.h"

#include <errno.h>

#include "base/alloc.h"
#include "base/options.h"

typedef struct tweaked {
    ki_source inner;
    const ki_alloc *alloc;
    const ki_resource *resource;
    ki__tweak tweak;
    void *user;
} tweaked;

static int tweaked_list(const ki_list_options *options, const ki_source_sink *sink, void *user,
                        void **ret_call, ki_error *error)
{
    const tweaked *t = user;
    ki_list_options changed;
    int r = KI__TAKE(ki_list_options, &changed, options, error);
    if (r < 0) {
        return r;
    }
    t->tweak(t->resource, &changed, t->user);
    return t->inner.list(&changed, sink, t->inner.user, ret_call, error);
}

static int tweaked_watch(const ki_list_options *options, const ki_source_sink *sink, void *user,
                         void **ret_call, ki_error *error)
{
    const tweaked *t = user;
    ki_list_options changed;
    int r = KI__TAKE(ki_list_options, &changed, options, error);
    if (r < 0) {
        return r;
    }
    t->tweak(t->resource, &changed, t->user);
    return t->inner.watch(&changed, sink, t->inner.user, ret_call, error);
}

static void tweaked_cancel(void *call, void *user)
{
    const tweaked *t = user;
    t->inner.cancel(call, t->inner.user);
}

static void tweaked_pause(void *call, bool paused, void *user)
{
    const tweaked *t = user;
    t->inner.pause(call, paused, t->inner.user);
}

static void tweaked_destroy(void *user)
{
    tweaked *t = user;
    if (t->inner.destroy != NULL) {
        t->inner.destroy(t->inner.user);
    }
    (void)ki_resource_unref(t->resource);
    ki__free(t->alloc, t);
}

int ki__tweak_source(ki_source *source, const ki_alloc *alloc, const ki_resource *resource,
                     ki__tweak tweak, void *user)
{
    tweaked *t = ki__alloc(alloc, sizeof(*t));
    if (t == NULL) {
        return -ENOMEM;
    }
    *t = (tweaked){
        .inner = *source,
        .alloc = alloc,
        .resource = ki_resource_ref(resource),
        .tweak = tweak,
        .user = user,
    };
    *source = (ki_source){
        .size = sizeof(ki_source),
        .list = tweaked_list,
        .watch = tweaked_watch,
        .cancel = tweaked_cancel,
        .pause = t->inner.pause != NULL ? tweaked_pause : NULL,
        .no_streaming_list = t->inner.no_streaming_list,
        .metadata_only = t->inner.metadata_only,
        .url = t->inner.url,
        .user = t,
        .destroy = tweaked_destroy,
    };
    return 0;
}
