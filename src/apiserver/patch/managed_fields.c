/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/patch/managed_fields.h"

#include <errno.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "base/utf8.h"
#include "object/edit/json_out.h"
#include "object/text/rfc3339.h"
#include "object/value.h"

void ki__managers_init(ki__managers *managers, const ki_alloc *alloc)
{
    *managers = (ki__managers){.alloc = ki__alloc_or_default(alloc)};
    ki__field_text_init(&managers->text, alloc);
}

void ki__managers_done(ki__managers *managers)
{
    for (size_t i = 0; i < managers->count; i++) {
        ki__field_set_done(&managers->items[i].fields);
    }
    ki__free(managers->alloc, managers->items);
    ki__field_text_done(&managers->text);
    *managers = (ki__managers){.alloc = managers->alloc};
}

static bool is_same(const ki__manager *a, const ki__manager *b)
{
    return a->applies == b->applies && strcmp(a->name, b->name) == 0 &&
           strcmp(a->subresource, b->subresource) == 0 &&
           (a->applies || strcmp(a->api_version, b->api_version) == 0);
}

ki__manager *ki__managers_find(ki__managers *managers, const ki__manager *like)
{
    for (size_t i = 0; i < managers->count; i++) {
        if (is_same(&managers->items[i], like)) {
            return &managers->items[i];
        }
    }
    return NULL;
}

int ki__managers_add(ki__managers *managers, const ki__manager *like, ki__manager **ret_manager)
{
    void *items = managers->items;
    if (managers->count == KI__MANAGERS_MAX) {
        return KI_ERR_LIMIT;
    }
    int r = ki__array_reserve(managers->alloc, &items, &managers->cap, managers->count + 1,
                              sizeof(*managers->items));
    managers->items = items;
    if (r < 0) {
        return r;
    }
    ki__manager *made = &managers->items[managers->count++];
    *made = *like;
    ki__field_set_init(&made->fields, managers->alloc);
    *ret_manager = made;
    return 0;
}

void ki__managers_drop_empty(ki__managers *managers)
{
    size_t kept = 0;
    for (size_t i = 0; i < managers->count; i++) {
        if (managers->items[i].fields.count == 0) {
            ki__field_set_done(&managers->items[i].fields);
        } else {
            managers->items[kept++] = managers->items[i];
        }
    }
    managers->count = kept;
}

/* ---- reading ---- */

/* Copies an optional string; false if it does not fit. */
static bool read_text(const ki_value *map, const char *name, char *text, size_t size)
{
    ki_value value = ki__value_child(map, name);
    text[0] = '\0';
    ki_type type = ki_value_type(&value);
    return type == KI_TYPE_NONE || type == KI_TYPE_NULL ||
           ki_value_get_string(&value, text, size) >= 0;
}

static bool read_manager(const ki_value *entry, ki__manager *manager)
{
    char time[64];
    ki_value operation = ki__value_child(entry, "operation");
    ki_value type = ki__value_child(entry, "fieldsType");
    *manager = (ki__manager){.applies = ki_value_equals(&operation, ki_str_from("Apply"))};
    if (!read_text(entry, "manager", manager->name, sizeof(manager->name)) ||
        !read_text(entry, "apiVersion", manager->api_version, sizeof(manager->api_version)) ||
        !read_text(entry, "subresource", manager->subresource, sizeof(manager->subresource)) ||
        !read_text(entry, "time", time, sizeof(time))) {
        return false;
    }
    manager->has_time = time[0] != '\0' && ki__rfc3339_read(ki_str_from(time), &manager->time) == 0;
    return manager->api_version[0] != '\0' && manager->has_time == (time[0] != '\0') &&
           ki_value_equals(&type, ki_str_from("FieldsV1")) &&
           (manager->applies || ki_value_equals(&operation, ki_str_from("Update")));
}

static int read_entry(ki__managers *managers, const ki_value *entry)
{
    ki__manager like;
    ki__manager *made = NULL;
    if (!read_manager(entry, &like)) {
        return KI_ERR_INVALID;
    }
    ki__manager *old = ki__managers_find(managers, &like);
    if (old != NULL) { /* the last one wins */
        old->fields.count = 0;
        ki__managers_drop_empty(managers);
    }
    int r = ki__managers_add(managers, &like, &made);
    ki_value fields = ki__value_child(entry, "fieldsV1");
    if (r == 0 && ki_value_type(&fields) > KI_TYPE_NULL) {
        r = ki__field_set_read(&made->fields, &fields, &managers->text);
    }
    return r;
}

int ki__managers_read(ki__managers *managers, const ki_value *list)
{
    ki_value_iter iter;
    ki_value entry;
    int r = 0;
    if (ki_value_type(list) != KI_TYPE_LIST || ki_value_iter_begin(list, &iter) < 0) {
        return 0;
    }
    while (r == 0 && ki_value_iter_next(&iter, NULL, &entry) > 0) {
        r = read_entry(managers, &entry);
    }
    return r;
}

bool ki__managers_is_reset(const ki_value *list)
{
    ki_value only;
    size_t count = ki_value_count(list);
    if (ki_value_type(list) != KI_TYPE_LIST || count > 1) {
        return false;
    }
    return count == 0 || (ki_value_element(list, 0, &only) == 0 &&
                          ki_value_type(&only) == KI_TYPE_MAP && ki_value_count(&only) == 0);
}

/* ---- writing ---- */

static int compare_managers(const void *a, const void *b)
{
    const ki__manager *left = a;
    const ki__manager *right = b;
    if (left->applies != right->applies) {
        return left->applies ? -1 : 1;
    }
    int64_t before = left->has_time ? left->time : 0;
    int64_t after = right->has_time ? right->time : 0;
    if (before != after) {
        return before < after ? -1 : 1;
    }
    int order = strcmp(left->name, right->name);
    order = order != 0 ? order : strcmp(left->api_version, right->api_version);
    return order != 0 ? order : strcmp(left->subresource, right->subresource);
}

static void write_manager(const ki__manager *manager, ki__out *out)
{
    ki__put_map(out);
    ki__put_member(out, "manager", manager->name);
    ki__put_member(out, "operation", manager->applies ? "Apply" : "Update");
    ki__put_member(out, "apiVersion", manager->api_version);
    if (manager->has_time) {
        ki__put_name(out, "time");
        ki__put_time(out, manager->time);
    }
    ki__put_member(out, "fieldsType", "FieldsV1");
    ki__put_name(out, "fieldsV1");
    ki__field_set_write(&manager->fields, out);
    if (manager->subresource[0] != '\0') {
        ki__put_member(out, "subresource", manager->subresource);
    }
    ki__put_end(out);
}

int ki__managers_write(ki__managers *managers, ki_buf *buf)
{
    ki__sort(managers->items, managers->count, sizeof(*managers->items), compare_managers);
    if (managers->count == 0) {
        return 0;
    }
    ki__out out = ki__out_to(buf);
    ki__put_list(&out);
    for (size_t i = 0; i < managers->count && out.error == 0; i++) {
        write_manager(&managers->items[i], &out);
    }
    ki__put_end(&out);
    return out.error;
}

/* ---- limit ---- */

static size_t count_updating(const ki__managers *managers)
{
    size_t count = 0;
    for (size_t i = 0; i < managers->count; i++) {
        count += managers->items[i].applies ? 0 : 1;
    }
    return count;
}

/* The first manager at or after `from` that updates with this apiVersion; NULL: none. */
static ki__manager *next_updating(ki__managers *managers, size_t from, const char *api_version)
{
    for (size_t i = from; i < managers->count; i++) {
        ki__manager *m = &managers->items[i];
        if (!m->applies && (api_version == NULL || strcmp(m->api_version, api_version) == 0)) {
            return m;
        }
    }
    return NULL;
}

int ki__managers_limit(ki__managers *managers)
{
    /* Sorted by age, so two managers of one version become one, which is the oldest again. */
    size_t from = 0;
    while (count_updating(managers) > KI__MANAGERS_UPDATING_MAX) {
        ki__sort(managers->items, managers->count, sizeof(*managers->items), compare_managers);
        ki__manager *first = next_updating(managers, from, NULL);
        if (first == NULL) {
            break;
        }
        size_t at = (size_t)(first - managers->items);
        ki__manager *second = next_updating(managers, at + 1, first->api_version);
        if (second == NULL) {
            from = at + 1;
            continue;
        }
        int r = ki__field_set_unite(&second->fields, &first->fields);
        if (r < 0) {
            return r;
        }
        ki__manager_set_name(second, ki_str_from("ancient-changes"));
        second->subresource[0] = '\0';
        first->fields.count = 0;
        ki__managers_drop_empty(managers);
    }
    return 0;
}

/* ---- names ---- */

void ki__manager_set_name(ki__manager *manager, ki_str text)
{
    size_t used = 0;
    for (size_t i = 0; i < text.len;) {
        size_t len = ki__utf8_length(ki_str_make(text.ptr + i, text.len - i));
        unsigned char c = (unsigned char)text.ptr[i];
        bool printable = len != 0 && c >= 0x20 && c != 0x7f;
        if (printable && used + len > KI__MANAGER_NAME_MAX) {
            break;
        }
        if (printable) {
            memcpy(manager->name + used, text.ptr + i, len);
            used += len;
        }
        i += len != 0 ? len : 1;
    }
    manager->name[used] = '\0';
    if (used == 0) {
        memcpy(manager->name, "unknown", sizeof("unknown"));
    }
}
