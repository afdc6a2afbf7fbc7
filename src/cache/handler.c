/* SPDX-License-Identifier: Apache-2.0 */
/* Which callback of a handler a note becomes; the counterpart of ResourceEventHandlerFuncs and
 * FilteringResourceEventHandler in client-go's controller.go. */
#include "cache/handler.h"

#include "base/error.h"
#include "base/mutant.h"
#include "object/object.h"

static bool is_wanted(const ki_handler *handler, const ki_object *object)
{
    return handler->filter == NULL || handler->filter(object, handler->user);
}

static int call_add(const ki_handler *h, const ki_object *object, bool is_initial)
{
    return h->on_add != NULL ? h->on_add(object, is_initial, h->user) : 0;
}

static int call_update(const ki_handler *h, const ki_object *old_object, const ki_object *object)
{
    return h->on_update != NULL ? h->on_update(old_object, object, h->user) : 0;
}

static int call_delete(const ki_handler *h, const ki_object *object, bool final_state_unknown)
{
    return h->on_delete != NULL ? h->on_delete(object, final_state_unknown, h->user) : 0;
}

static int tell_update(const ki_handler *h, const ki__note *note)
{
    bool old_wanted = is_wanted(h, note->old);
    if (is_wanted(h, note->object)) {
        return old_wanted ? call_update(h, note->old, note->object)
                          : call_add(h, note->object, false);
    }
    return old_wanted && !KI__MUTANT(35) ? call_delete(h, note->old, false) : 0;
}

static int tell(const ki_handler *h, const ki__note *note)
{
    switch (note->type) {
    case KI__NOTE_ADD:
        return is_wanted(h, note->object) ? call_add(h, note->object, note->is_initial) : 0;
    case KI__NOTE_UPDATE:
        return tell_update(h, note);
    case KI__NOTE_DELETE:
        /* The handler heard of `old`, whatever the final state looks like. */
        return is_wanted(h, note->old) ? call_delete(h, note->object, note->final_state_unknown)
                                       : 0;
    case KI__NOTE_SYNC:
        if (!is_wanted(h, note->object)) {
            return 0;
        }
        return h->on_sync != NULL ? h->on_sync(note->object, h->user)
                                  : call_update(h, note->object, note->object);
    }
    return 0;
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
