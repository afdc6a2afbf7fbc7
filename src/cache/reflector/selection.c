/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/reflector/selection.h"

#include <errno.h>
#include <string.h>

#include <kinformer/field_selector.h>
#include <kinformer/selection.h>
#include <kinformer/selector.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"

/* A server would reject an invalid selector, again and again. */
static int check(const ki_alloc *alloc, const ki_selection *s, ki_error *error)
{
    ki_selector *labels = NULL;
    ki_field_selector *fields = NULL;
    int r =
        s->label_selector == NULL ? 0 : ki_selector_parse(s->label_selector, alloc, &labels, error);
    if (r >= 0 && s->field_selector != NULL) {
        r = ki_field_selector_parse(s->field_selector, alloc, &fields, error);
    }
    (void)ki_selector_unref(labels);
    (void)ki_field_selector_unref(fields);
    return r;
}

static const char *copy(char **place, const char *text)
{
    ki_str from = ki_str_from(text);
    char *to = *place;
    if (from.len != 0) {
        memcpy(to, from.ptr, from.len);
    }
    to[from.len] = '\0';
    *place = to + from.len + 1;
    return to;
}

int ki__selection_new(const ki_alloc *alloc, const ki_selection *from,
                      ki__selection **ret_selection, ki_error *error)
{
    ki_selection s;
    int r = KI__TAKE(ki_selection, &s, from, error);
    r = r < 0 ? r : check(alloc, &s, error);
    if (r < 0) {
        return r;
    }
    size_t len = ki_str_from(s.label_selector).len + ki_str_from(s.field_selector).len +
                 ki_str_from(s.shard_selector).len + 3;
    ki__selection *selection = ki__alloc_zero(alloc, sizeof(*selection) + len);
    if (selection == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    char *place = selection->text;
    selection->labels = copy(&place, s.label_selector);
    selection->fields = copy(&place, s.field_selector);
    selection->shard_text = copy(&place, s.shard_selector);
    selection->sharded = selection->shard_text[0] != '\0';
    r = selection->sharded ? ki__shard_parse(selection->shard_text, &selection->shard, error) : 0;
    if (r < 0) {
        ki__free(alloc, selection);
        return r;
    }
    *ret_selection = selection;
    return 0;
}
