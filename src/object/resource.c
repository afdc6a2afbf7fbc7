/* SPDX-License-Identifier: Apache-2.0 */
/* Resource descriptors: lookup of built-in ones, and creation of custom ones. A custom descriptor
 * is one block: the struct followed by its short names and all its strings. Names follow the rules
 * for CustomResourceDefinitions, so that every resource a server can serve can be described. */
#include "object/resource.h"

#include <errno.h>
#include <string.h>

#include <kinformer/resource_table.h>

#include "base/alloc.h"
#include "base/ascii.h"
#include "base/error.h"
#include "base/options.h"
#include "base/refs.h"
#include "object/names.h"
#include "object/proto/schema.h"

#define SHORT_NAMES_MAX 64

typedef struct custom_resource {
    ki_resource resource; /* first member: every ki_resource that is not built-in is one of these */
    ki__resource_facts facts;
    const ki_alloc *alloc;
    ki__refs refs;
} custom_resource;

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static int bad_name(ki_error *error, const char *what, ki_str text, size_t offset, const char *why)
{
    return ki__error_at(error, KI_ERR_INVALID, text, offset, "%s: %s", what, why);
}

/* An RFC 1035 label: a letter, then letters, digits and '-', not ending in '-'. */
static int check_label(const char *what, const char *name, bool mixed_case, ki_error *error)
{
    ki_str text = ki_str_from(name);
    if (text.len == 0) {
        return bad_name(error, what, text, 0, "is empty");
    }
    if (text.len > KI__DNS_LABEL_MAX) {
        return bad_name(error, what, text, KI__DNS_LABEL_MAX, "is longer than 63 bytes");
    }
    for (size_t i = 0; i < text.len; i++) {
        char c = mixed_case ? ki__to_lower(name[i]) : name[i];
        if (i == 0 && !is_lower(c)) {
            return bad_name(error, what, text, 0,
                            mixed_case ? "must begin with a letter"
                                       : "must begin with a lower-case letter");
        }
        if (!is_lower(c) && !ki__is_digit(c) && c != '-') {
            return bad_name(error, what, text, i,
                            mixed_case ? "may have letters, digits and '-' only"
                                       : "may have lower-case letters, digits and '-' only");
        }
    }
    if (name[text.len - 1] == '-') {
        return bad_name(error, what, text, text.len - 1, "must not end with '-'");
    }
    return 0;
}

static int check_group(const char *name, ki_error *error)
{
    ki_str text = ki_str_from(name);
    ki__names_fault fault = {0};
    if (text.len == 0 || ki__names_dns_subdomain(text, &fault)) {
        return 0;
    }
    return bad_name(error, "group", text, fault.offset, fault.rule);
}

static int check_options(const ki_resource_options *options, ki_error *error)
{
    if (options->version == NULL || options->resource == NULL || options->kind == NULL) {
        return ki__error_set(error, -EINVAL, "version, resource and kind are required");
    }
    int r = options->group != NULL ? check_group(options->group, error) : 0;
    if (r == 0) {
        r = check_label("version", options->version, false, error);
    }
    if (r == 0) {
        r = check_label("resource", options->resource, false, error);
    }
    if (r == 0) {
        r = check_label("kind", options->kind, true, error);
    }
    if (r == 0 && options->singular != NULL) {
        r = check_label("singular", options->singular, false, error);
    }
    return r;
}

static int check_short_names(const char *const *short_names, size_t *ret_count, ki_error *error)
{
    size_t count = 0;
    for (; short_names != NULL && short_names[count] != NULL; count++) {
        if (count == SHORT_NAMES_MAX) {
            return ki__error_set(error, KI_ERR_LIMIT, "more than %d short names", SHORT_NAMES_MAX);
        }
        int r = check_label("short name", short_names[count], false, error);
        if (r < 0) {
            return r;
        }
    }
    *ret_count = count;
    return 0;
}

/* Copies a string to *next and advances it. text_size() has counted the space. */
static const char *put(char **next, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = memcpy(*next, text, size);
    *next += size;
    return copy;
}

static const char *put_lower(char **next, const char *text)
{
    char *copy = *next;
    (void)put(next, text);
    for (char *c = copy; *c != '\0'; c++) {
        *c = ki__to_lower(*c);
    }
    return copy;
}

static const char *put_api_version(char **next, const char *group, const char *version)
{
    const char *copy = *next;
    if (group[0] != '\0') {
        (void)put(next, group);
        (*next)[-1] = '/';
    }
    (void)put(next, version);
    return copy;
}

/* Each name is at most KI__DNS_SUBDOMAIN_MAX bytes and their number is limited: no overflow. */
static size_t text_size(const ki_resource_options *options, size_t short_count)
{
    size_t group = strlen(options->group) + 1;
    size_t version = strlen(options->version) + 1;
    size_t kind = strlen(options->kind) + 1;
    size_t singular = options->singular != NULL ? strlen(options->singular) + 1 : kind;
    size_t total =
        group + version + strlen(options->resource) + 1 + singular + kind + group + version;
    for (size_t i = 0; i < short_count; i++) {
        total += strlen(options->short_names[i]) + 1;
    }
    return total;
}

static custom_resource *build(const ki_resource_options *options, size_t short_count)
{
    const ki_alloc *alloc = ki__alloc_or_default(options->alloc);
    size_t pointers = short_count != 0 ? short_count + 1 : 0;
    size_t text = text_size(options, short_count);
    custom_resource *custom =
        ki__alloc_zero(alloc, sizeof(*custom) + pointers * sizeof(char *) + text);
    if (custom == NULL) {
        return NULL;
    }
    const char **short_names = (const char **)(custom + 1);
    char *next = (char *)(short_names + pointers);
    ki__resource_facts *facts = &custom->facts;
    custom->resource.facts = facts;
    facts->group = put(&next, options->group);
    facts->version = put(&next, options->version);
    facts->name = put(&next, options->resource);
    facts->singular =
        options->singular != NULL ? put(&next, options->singular) : put_lower(&next, options->kind);
    facts->kind = put(&next, options->kind);
    facts->api_version = put_api_version(&next, options->group, options->version);
    for (size_t i = 0; i < short_count; i++) {
        short_names[i] = put(&next, options->short_names[i]);
    }
    facts->short_names = short_count != 0 ? short_names : NULL;
    facts->namespaced = !options->cluster_scoped;
    custom->alloc = alloc;
    ki__refs_init(&custom->refs);
    return custom;
}

int ki_resource_new(const ki_resource_options *options, ki_resource **ret_resource, ki_error *error)
{
    KI__REQUIRE(options, error);
    KI__REQUIRE(ret_resource, error);
    ki_resource_options ours;
    int r = KI__TAKE(ki_resource_options, &ours, options, error);
    if (r < 0) {
        return r;
    }
    size_t short_count = 0;
    r = check_options(&ours, error);
    if (r == 0) {
        r = check_short_names(ours.short_names, &short_count, error);
    }
    if (r < 0) {
        return r;
    }
    if (ours.group == NULL) {
        ours.group = "";
    }
    custom_resource *custom = build(&ours, short_count);
    if (custom == NULL) {
        return ki__error_code(error, -ENOMEM);
    }
    *ret_resource = &custom->resource;
    return 0;
}

/* Only the reference count changes behind a const pointer, and only in blocks made by build(). */
static custom_resource *custom_of(const ki_resource *resource)
{
    return (custom_resource *)(uintptr_t)resource;
}

ki_resource *ki_resource_ref(const ki_resource *resource)
{
    if (resource != NULL && !resource->facts->builtin) {
        ki__refs_take(&custom_of(resource)->refs);
    }
    return (ki_resource *)(uintptr_t)resource;
}

ki_resource *ki_resource_unref(const ki_resource *resource)
{
    if (resource != NULL && !resource->facts->builtin) {
        custom_resource *custom = custom_of(resource);
        if (ki__refs_drop(&custom->refs)) {
            ki__free(custom->alloc, custom);
        }
    }
    return NULL;
}

const char *ki_resource_group(const ki_resource *resource)
{
    return resource->facts->group;
}

const char *ki_resource_version(const ki_resource *resource)
{
    return resource->facts->version;
}

const char *ki_resource_name(const ki_resource *resource)
{
    return resource->facts->name;
}

const char *ki_resource_singular(const ki_resource *resource)
{
    return resource->facts->singular;
}

const char *ki_resource_kind(const ki_resource *resource)
{
    return resource->facts->kind;
}

const char *ki_resource_api_version(const ki_resource *resource)
{
    return resource->facts->api_version;
}

bool ki_resource_is_namespaced(const ki_resource *resource)
{
    return resource->facts->namespaced;
}

bool ki_resource_has_protobuf(const ki_resource *resource)
{
    return ki__schema_of_kind(ki_str_from(resource->facts->api_version),
                              ki_str_from(resource->facts->kind)) != NULL;
}

const char *ki_resource_short_name_at(const ki_resource *resource, size_t index)
{
    if (resource->facts->short_names == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < index; i++) { /* stops at the end, also for an index out of range */
        if (resource->facts->short_names[i] == NULL) {
            return NULL;
        }
    }
    return resource->facts->short_names[index];
}

const ki_resource *ki_resource_builtin_at(size_t index)
{
    return index < KI_BUILTIN_MAX ? ki__builtin_resources[index] : NULL;
}

/* Search key; `group` is NULL in a search by apiVersion and kind. */
typedef struct lookup {
    const char *group;
    const char *version;
    const char *name;
} lookup;

static int compare(const lookup *wanted, const ki_resource *resource)
{
    if (wanted->group == NULL) {
        int order = strcmp(wanted->version, resource->facts->api_version);
        return order != 0 ? order : strcmp(wanted->name, resource->facts->kind);
    }
    int order = strcmp(wanted->group, resource->facts->group);
    if (order == 0) {
        order = strcmp(wanted->version, resource->facts->version);
    }
    return order != 0 ? order : strcmp(wanted->name, resource->facts->name);
}

static const ki_resource *find(const lookup *wanted, const uint16_t *order)
{
    size_t low = 0;
    size_t high = KI_BUILTIN_MAX;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const ki_resource *resource = ki__builtin_resources[order[middle]];
        int c = compare(wanted, resource);
        if (c == 0) {
            return resource;
        }
        if (c < 0) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return NULL;
}

const ki_resource *ki_resource_builtin(const char *group, const char *version, const char *name)
{
    if (version == NULL || name == NULL) {
        return NULL;
    }
    const lookup wanted = {.group = group != NULL ? group : "", .version = version, .name = name};
    return find(&wanted, ki__builtin_by_name);
}

const ki_resource *ki_resource_builtin_of_kind(const char *api_version, const char *kind)
{
    if (api_version == NULL || kind == NULL) {
        return NULL;
    }
    const lookup wanted = {.version = api_version, .name = kind};
    return find(&wanted, ki__builtin_by_kind);
}
