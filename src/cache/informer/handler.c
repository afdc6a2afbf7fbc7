/* SPDX-License-Identifier: Apache-2.0 */
/* Which callback of a handler a note becomes; the counterpart of ResourceEventHandlerFuncs and
 * FilteringResourceEventHandler in client-go's controller.go. */
#include "cache/informer/handler.h"

#include "base/error.h"
#include "object/object.h"

static bool is_wanted(const ki_handler *handler, const ki_object *object)
{
    return handler->filter == NULL || handler->filter(object, handler->user);
}

/* Number of events that were merged into the one being delivered. */
static void call_merged(const ki_handler *h, const ki_object *object, uint64_t merged)
{
    if (merged != 0 && h->on_merged != NULL) {
        h->on_merged(object, merged, h->user);
    }
}

static int call_add(const ki_handler *h, const ki_object *object, const ki__note *note)
{
    bool is_initial = note->type == KI__NOTE_ADD && note->is_initial;
    call_merged(h, object, note->merged);
    return h->on_add != NULL ? h->on_add(object, is_initial, h->user) : 0;
}

static int call_update(const ki_handler *h, const ki_object *old_object, const ki__note *note)
{
    const ki_object *object = note->object;
    call_merged(h, object, note->merged);
    return h->on_update != NULL ? h->on_update(old_object, object, h->user) : 0;
}

static int call_delete(const ki_handler *h, const ki_object *object, const ki__note *note)
{
    bool final_state_unknown = note->type == KI__NOTE_DELETE && note->final_state_unknown;
    call_merged(h, object, note->merged);
    return h->on_delete != NULL ? h->on_delete(object, final_state_unknown, h->user) : 0;
}

static int call_sync(const ki_handler *h, const ki__note *note)
{
    if (h->on_sync == NULL) {
        return call_update(h, note->object, note);
    }
    call_merged(h, note->object, note->merged);
    return h->on_sync(note->object, h->user);
}

static int tell_update(const ki_handler *h, const ki__note *note)
{
    bool old_wanted = is_wanted(h, note->old);
    if (is_wanted(h, note->object)) {
        return old_wanted ? call_update(h, note->old, note) : call_add(h, note->object, note);
    }
    return old_wanted ? call_delete(h, note->old, note) : 0;
}

static int tell(const ki_handler *h, const ki__note *note)
{
    switch (note->type) {
    case KI__NOTE_ADD:
        return is_wanted(h, note->object) ? call_add(h, note->object, note) : 0;
    case KI__NOTE_UPDATE:
        return tell_update(h, note);
    case KI__NOTE_DELETE:
        /* The handler received `old`, whatever the final state is. */
        return is_wanted(h, note->old) ? call_delete(h, note->object, note) : 0;
    case KI__NOTE_SYNC:
        if (!is_wanted(h, note->object)) {
            return 0;
        }
        return call_sync(h, note);
    }
    return 0;
}

void ki__handler_tell_left_out(const ki_handler *handler, uint64_t left_out)
{
    call_merged(handler, NULL, left_out);
}

int ki__handler_tell(const ki_handler *handler, const ki__note *note, const ki_error_hook *hook)
{
    int r = tell(handler, note);
    if (r < 0 && hook->report != NULL) {
        ki_error error = KI_ERROR_INIT;
        (void)ki__error_set(&error, r, "a handler failed for object %s: %s",
                            ki_object_key(note->object), ki_error_text(r));
        hook->report("handler", ki__object_key(note->object), &error, hook->user);
    }
    return r;
}
