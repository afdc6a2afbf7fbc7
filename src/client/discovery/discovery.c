/* SPDX-License-Identifier: Apache-2.0 */
/* The resources of a server: reference counting, iteration, and resolution of names. kubectl's
 * rules, with two exceptions: case is ignored, and an explicit version also applies to short
 * names. */
#include "client/discovery/discovery.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

/* Upper bound of any name: two labels, a subdomain, two dots. */
enum { NAME_MAX_LEN = 63 + 1 + 63 + 1 + 253 };

/* Only the reference count changes behind a const pointer. */
static ki_discovery *counted(const ki_discovery *discovery)
{
    return (ki_discovery *)(uintptr_t)discovery;
}

ki_discovery *ki_discovery_ref(const ki_discovery *discovery)
{
    if (discovery != NULL) {
        ki__refs_take(&counted(discovery)->refs);
    }
    return counted(discovery);
}

ki_discovery *ki_discovery_unref(const ki_discovery *discovery)
{
    if (discovery == NULL || !ki__refs_drop(&counted(discovery)->refs)) {
        return NULL;
    }
    ki_discovery *own = counted(discovery);
    for (size_t i = 0; i < own->count; i++) {
        ki_resource_unref(own->entries[i].resource);
    }
    ki__free(own->alloc, own->entries);
    ki__free(own->alloc, own->names);
    ki__free(own->alloc, own->failures);
    ki_buf_done(&own->text);
    ki__free(own->alloc, own);
    return NULL;
}

size_t ki_discovery_count(const ki_discovery *discovery)
{
    return discovery->count;
}

const ki_resource *ki_discovery_at(const ki_discovery *discovery, size_t index, uint32_t *ret_verbs)
{
    if (index >= discovery->count) {
        return NULL;
    }
    if (ret_verbs != NULL) {
        *ret_verbs = discovery->entries[index].verbs;
    }
    return discovery->entries[index].resource;
}

uint32_t ki_discovery_verbs(const ki_discovery *discovery, const ki_resource *resource)
{
    for (size_t i = 0; i < discovery->count; i++) {
        if (discovery->entries[i].resource == resource) {
            return discovery->entries[i].verbs;
        }
    }
    return 0;
}

const char *ki_discovery_category_at(const ki_discovery *discovery, const ki_resource *resource,
                                     size_t index)
{
    for (size_t i = 0; i < discovery->count; i++) {
        if (discovery->entries[i].resource != resource) {
            continue;
        }
        const char *category = discovery->entries[i].categories;
        for (; index > 0 && category[0] != '\0'; index--) {
            category += strlen(category) + 1;
        }
        return category[0] != '\0' ? category : NULL;
    }
    return NULL;
}

const char *ki_discovery_failure_at(const ki_discovery *discovery, size_t index)
{
    return index < discovery->failure_count ? discovery->failures[index] : NULL;
}

size_t ki_discovery_skipped_count(const ki_discovery *discovery)
{
    return discovery->left_out;
}

/* ---- names ---- */

static ki_str text_of(const ki__discovery_name *name)
{
    return ki_str_make(name->text, name->len);
}

int ki__discovery_name_compare(const void *a, const void *b)
{
    const ki__discovery_name *left = a;
    const ki__discovery_name *right = b;
    int order = ki_str_cmp(text_of(left), text_of(right));
    if (order == 0) {
        order = (int)left->form - (int)right->form;
    }
    if (order == 0 && left->entry != right->entry) {
        order = left->entry < right->entry ? -1 : 1;
    }
    return order;
}

size_t ki__discovery_names_of(const ki_discovery *discovery, ki_str text, size_t *ret_end)
{
    size_t low = 0;
    size_t high = discovery->name_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ki_str_cmp(text_of(&discovery->names[middle]), text) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    size_t end = low;
    while (end < discovery->name_count && ki_str_eq(text_of(&discovery->names[end]), text)) {
        end++;
    }
    *ret_end = end;
    return low;
}

/* ---- lookup ---- */

/* Search criteria; an empty version or group matches any. */
typedef struct query {
    ki_str word;
    ki_str version;
    ki_str group;
    bool prefix; /* `group` is a prefix */
} query;

static bool is_of(const ki_resource *resource, const query *wanted)
{
    ki_str group = ki_str_from(ki_resource_group(resource));
    if (wanted->version.len != 0 &&
        !ki_str_eq_text(wanted->version, ki_resource_version(resource))) {
        return false;
    }
    if (wanted->group.len == 0 || ki_str_eq(wanted->group, group)) {
        return true;
    }
    return wanted->prefix && group.len > wanted->group.len &&
           memcmp(group.ptr, wanted->group.ptr, wanted->group.len) == 0;
}

/* Equal names are sorted by preference, so the first one wins. */
static const ki_resource *find(const ki_discovery *discovery, const query *wanted)
{
    size_t end;
    size_t at = ki__discovery_names_of(discovery, wanted->word, &end);
    for (; at < end; at++) {
        const ki_resource *resource = discovery->entries[discovery->names[at].entry].resource;
        if (is_of(resource, wanted)) {
            return resource;
        }
    }
    return NULL;
}

/* Splits at the first '.': the part before it, and the rest in *rest. Whether there was one. */
static bool cut_dot(ki_str *rest, ki_str *ret_before)
{
    const char *dot = rest->len != 0 ? memchr(rest->ptr, '.', rest->len) : NULL;
    if (dot == NULL) {
        *ret_before = *rest;
        *rest = ki_str_make(NULL, 0);
        return false;
    }
    size_t len = (size_t)(dot - rest->ptr);
    *ret_before = ki_str_make(rest->ptr, len);
    *rest = ki_str_make(dot + 1, rest->len - len - 1);
    return true;
}

static const ki_resource *find_spelling(const ki_discovery *discovery, ki_str name)
{
    query wanted = {.group = name};
    (void)cut_dot(&wanted.group, &wanted.word);
    query versioned = {.word = wanted.word, .group = wanted.group};
    const ki_resource *resource = NULL;
    if (cut_dot(&versioned.group, &versioned.version) && versioned.version.len != 0) {
        resource = find(discovery, &versioned);
    }
    if (resource == NULL) {
        resource = find(discovery, &wanted);
    }
    if (resource == NULL) { /* last resort: an exact group name has precedence */
        wanted.prefix = true;
        resource = find(discovery, &wanted);
    }
    return resource;
}

static ki_str lower(const char *name, size_t len, char *out)
{
    for (size_t i = 0; i < len; i++) {
        out[i] = ki__discovery_lower(name[i]);
    }
    return ki_str_make(out, len);
}

int ki_discovery_find(const ki_discovery *discovery, const char *name,
                      const ki_resource **ret_resource, ki_error *error)
{
    KI__REQUIRE(discovery, error);
    KI__REQUIRE(name, error);
    KI__REQUIRE(ret_resource, error);
    char memory[NAME_MAX_LEN];
    size_t len = name != NULL ? strlen(name) : 0;
    if (len == 0 || len > sizeof(memory)) {
        return ki__error_set(error, KI_ERR_NOT_FOUND, "resource name: %s",
                             len == 0 ? "empty" : "too long");
    }
    ki_str spelling = lower(name, len, memory);
    const ki_resource *resource = find_spelling(discovery, spelling);
    if (resource == NULL) {
        ki_str word;
        (void)cut_dot(&spelling, &word);
        return ki__discovery_not_found(discovery, name, word, error);
    }
    *ret_resource = resource;
    return 0;
}

static int no_kind(ki_error *error, const char *api_version, const char *kind)
{
    int r = ki__error_set(error, KI_ERR_NOT_FOUND, "the server has no kind ");
    ki__error_add(error, ki_str_from(kind));
    ki__error_add(error, ki_str_from(" in "));
    ki__error_add(error, ki_str_from(api_version));
    return r;
}

int ki_discovery_find_kind(const ki_discovery *discovery, const char *api_version, const char *kind,
                           const ki_resource **ret_resource, ki_error *error)
{
    KI__REQUIRE(discovery, error);
    KI__REQUIRE(api_version, error);
    KI__REQUIRE(kind, error);
    KI__REQUIRE(ret_resource, error);
    char memory[NAME_MAX_LEN];
    size_t len = strlen(kind);
    if (len == 0 || len > sizeof(memory)) {
        return no_kind(error, api_version, kind);
    }
    size_t end;
    size_t at = ki__discovery_names_of(discovery, lower(kind, len, memory), &end);
    for (; at < end; at++) {
        const ki_resource *resource = discovery->entries[discovery->names[at].entry].resource;
        if (discovery->names[at].form == KI__FORM_KIND &&
            strcmp(ki_resource_kind(resource), kind) == 0 &&
            strcmp(ki_resource_api_version(resource), api_version) == 0) {
            *ret_resource = resource;
            return 0;
        }
    }
    return no_kind(error, api_version, kind);
}
