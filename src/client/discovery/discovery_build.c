/* SPDX-License-Identifier: Apache-2.0 */
/* Collects the resources of a server. Names are kept in lower case in one text block, by offset,
 * since the block moves as it grows; offsets become pointers at the end. */
#include "client/discovery/discovery_build.h"

#include <errno.h>
#include <string.h>

#include <kinformer/resource_table.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "object/names.h"
#include "object/resource.h"

void ki__discovery_builder_init(ki__discovery_builder *builder, const ki_alloc *alloc)
{
    *builder = (ki__discovery_builder){.alloc = ki__alloc_or_default(alloc)};
    ki_buf_init(&builder->text, builder->alloc, KI__DISCOVERY_TEXT_MAX);
}

void ki__discovery_builder_done(ki__discovery_builder *builder)
{
    for (size_t i = 0; i < builder->draft_count; i++) {
        ki_resource_unref(builder->drafts[i].resource);
    }
    ki__free(builder->alloc, builder->versions);
    ki__free(builder->alloc, builder->drafts);
    ki__free(builder->alloc, builder->names);
    ki_buf_done(&builder->text);
    *builder = (ki__discovery_builder){.alloc = builder->alloc};
    ki_buf_init(&builder->text, builder->alloc, KI__DISCOVERY_TEXT_MAX);
}

/* Copies text, in lower case and NUL-terminated, to the block. */
static int keep(ki__discovery_builder *builder, ki_str text, uint32_t *ret_offset)
{
    char *room;
    size_t offset = builder->text.len;
    int r = ki_buf_reserve(&builder->text, text.len + 1, &room);
    if (r < 0) {
        return r;
    }
    for (size_t i = 0; i < text.len; i++) {
        room[i] = ki__discovery_lower(text.ptr[i]);
    }
    room[text.len] = '\0';
    ki_buf_commit(&builder->text, text.len + 1);
    *ret_offset = (uint32_t)offset; /* KI__DISCOVERY_TEXT_MAX is less than 4 GiB */
    return 0;
}

int ki__discovery_builder_leave_out(ki__discovery_builder *builder)
{
    if (builder->left_out >= KI__DISCOVERY_RESOURCES_MAX) {
        return KI_ERR_LIMIT;
    }
    builder->left_out++;
    return 0;
}

/* ---- group versions ---- */

static bool is_named(const ki__discovery_builder *builder, ki_str group, ki_str version)
{
    for (size_t i = 0; i < builder->version_count; i++) {
        const ki__discovery_version *known = &builder->versions[i];
        if (ki_str_eq_text(group, ki__discovery_builder_text(builder, known->group)) &&
            ki_str_eq_text(version, ki__discovery_builder_text(builder, known->version))) {
            return true;
        }
    }
    return false;
}

int ki__discovery_builder_version(ki__discovery_builder *builder, ki_str group, ki_str version,
                                  ki__discovery_state state, size_t *ret_number)
{
    /* Both become parts of paths: only valid names are accepted. */
    bool valid = group.len == 0 || ki__names_dns_subdomain(group, NULL);
    if (!valid || !ki__names_dns_label(version, NULL) || is_named(builder, group, version)) {
        int r = ki__discovery_builder_leave_out(builder);
        return r < 0 ? r : KI_ERR_INVALID;
    }
    if (builder->version_count == KI__DISCOVERY_VERSIONS_MAX) {
        return KI_ERR_LIMIT;
    }
    ki__discovery_version added = {.state = state};
    int r = ki__array_reserve(builder->alloc, (void **)&builder->versions, &builder->version_cap,
                              builder->version_count + 1, sizeof(added));
    if (r == 0) {
        r = keep(builder, group, &added.group);
    }
    if (r == 0) {
        r = keep(builder, version, &added.version);
    }
    if (r < 0) {
        return r;
    }
    *ret_number = builder->version_count;
    builder->versions[builder->version_count++] = added;
    return 0;
}

/* Sort key: core before all others, then by order of appearance. */
static uint32_t rank_of(const ki__discovery_builder *builder, size_t number)
{
    bool core = ki__discovery_builder_text(builder, builder->versions[number].group)[0] == '\0';
    return (uint32_t)(core ? number : KI__DISCOVERY_VERSIONS_MAX + number);
}

/* ---- resources ---- */

static int make_resource(const ki__discovery_builder *builder, size_t number,
                         const ki__discovery_row *row, const ki_resource **ret_resource)
{
    const char *group = ki__discovery_builder_text(builder, builder->versions[number].group);
    const char *version = ki__discovery_builder_text(builder, builder->versions[number].version);
    const ki_resource *builtin = ki_resource_builtin(group, version, row->name);
    if (builtin != NULL && strcmp(builtin->facts->kind, row->kind) == 0 &&
        builtin->facts->namespaced == row->namespaced) {
        *ret_resource = builtin;
        return 0;
    }
    ki_resource_options options = {.size = sizeof(options),
                                   .group = group,
                                   .version = version,
                                   .resource = row->name,
                                   .kind = row->kind,
                                   .singular = row->singular[0] != '\0' ? row->singular : NULL,
                                   .cluster_scoped = !row->namespaced,
                                   .short_names = row->short_names,
                                   .alloc = builder->alloc};
    ki_resource *made = NULL;
    int r = ki_resource_new(&options, &made, NULL);
    if (r == KI_ERR_INVALID) { /* an invalid singular or short name does not make it unusable */
        options.singular = NULL;
        options.short_names = NULL;
        r = ki_resource_new(&options, &made, NULL);
    }
    if (r == 0) {
        *ret_resource = made;
    }
    return r;
}

static int add_name(ki__discovery_builder *builder, ki__discovery_draft *draft, const char *text,
                    ki__discovery_form form)
{
    ki__discovery_draft_name name = {.len = (uint8_t)strlen(text), .form = (uint8_t)form};
    int r = ki__array_reserve(builder->alloc, (void **)&builder->names, &builder->name_cap,
                              builder->name_count + 1, sizeof(name));
    if (r == 0) {
        r = keep(builder, ki_str_make(text, name.len), &name.text);
    }
    if (r == 0) {
        builder->names[builder->name_count++] = name;
        draft->name_count++;
    }
    return r;
}

/* The server's names, also for built-in resources: an older server may use one of theirs for a
 * custom resource. */
static int add_names(ki__discovery_builder *builder, ki__discovery_draft *draft,
                     const ki__discovery_row *row)
{
    const ki_resource *resource = draft->resource;
    const char *singular = resource->facts->builtin && row->singular[0] != '\0'
                               ? row->singular
                               : resource->facts->singular;
    bool custom = !resource->facts->builtin;
    int r = add_name(builder, draft, resource->facts->name, KI__FORM_NAME);
    if (r == 0 && strcmp(singular, resource->facts->name) != 0) {
        r = add_name(builder, draft, singular, KI__FORM_NAME);
    }
    if (r == 0) {
        r = add_name(builder, draft, resource->facts->kind, KI__FORM_KIND);
    }
    const char *const *short_names = custom ? resource->facts->short_names : row->short_names;
    for (size_t i = 0; r == 0 && short_names != NULL && short_names[i] != NULL; i++) {
        r = add_name(builder, draft, short_names[i], KI__FORM_SHORT);
    }
    return r;
}

/* Concatenated, ending with an empty one. */
static int keep_categories(ki__discovery_builder *builder, const char *const *categories,
                           uint32_t *ret_offset)
{
    uint32_t first = (uint32_t)builder->text.len;
    uint32_t offset;
    int r = 0;
    for (size_t i = 0; r == 0 && categories != NULL && categories[i] != NULL; i++) {
        r = keep(builder, ki_str_from(categories[i]), &offset);
    }
    r = r < 0 ? r : keep(builder, ki_str_from(""), &offset);
    *ret_offset = first;
    return r;
}

int ki__discovery_builder_add(ki__discovery_builder *builder, size_t number,
                              const ki__discovery_row *row)
{
    if (builder->draft_count == KI__DISCOVERY_RESOURCES_MAX) {
        return KI_ERR_LIMIT;
    }
    ki__discovery_draft draft = {.verbs = row->verbs,
                                 .rank = rank_of(builder, number),
                                 .order = (uint32_t)builder->draft_count,
                                 .first_name = (uint32_t)builder->name_count};
    int r = ki__array_reserve(builder->alloc, (void **)&builder->drafts, &builder->draft_cap,
                              builder->draft_count + 1, sizeof(draft));
    if (r == 0) {
        r = make_resource(builder, number, row, &draft.resource);
    }
    if (r == KI_ERR_INVALID) {
        return ki__discovery_builder_leave_out(builder);
    }
    if (r < 0) {
        return r;
    }
    r = add_names(builder, &draft, row);
    if (r == 0) {
        r = keep_categories(builder, row->categories, &draft.categories);
    }
    if (r < 0) {
        ki_resource_unref(draft.resource);
        return r;
    }
    builder->drafts[builder->draft_count++] = draft;
    return 0;
}

/* ---- completion ---- */

static int by_name(const void *a, const void *b)
{
    const ki__discovery_draft *left = a;
    const ki__discovery_draft *right = b;
    if (left->rank != right->rank) {
        return left->rank < right->rank ? -1 : 1;
    }
    int order = strcmp(left->resource->facts->name, right->resource->facts->name);
    if (order == 0) {
        order = left->order < right->order ? -1 : left->order > right->order;
    }
    return order;
}

static int by_place(const void *a, const void *b)
{
    const ki__discovery_draft *left = a;
    const ki__discovery_draft *right = b;
    if (left->rank != right->rank) {
        return left->rank < right->rank ? -1 : 1;
    }
    return left->order < right->order ? -1 : left->order > right->order;
}

/* The first of duplicate resources in a group version wins. */
static void drop_doubles(ki__discovery_builder *builder)
{
    ki__discovery_draft *drafts = builder->drafts;
    ki__sort(drafts, builder->draft_count, sizeof(*drafts), by_name);
    size_t kept = 0;
    for (size_t i = 0; i < builder->draft_count; i++) {
        if (kept != 0 && drafts[kept - 1].rank == drafts[i].rank &&
            strcmp(drafts[kept - 1].resource->facts->name, drafts[i].resource->facts->name) == 0) {
            ki_resource_unref(drafts[i].resource);
            builder->left_out++;
        } else {
            drafts[kept++] = drafts[i];
        }
    }
    builder->draft_count = kept;
    ki__sort(drafts, kept, sizeof(*drafts), by_place);
}

/* "group/version", or only the version for core. */
static int keep_failure(ki__discovery_builder *builder, const ki__discovery_version *version,
                        uint32_t *ret_offset)
{
    ki_buf line;
    ki_buf_init(&line, builder->alloc, 1024);
    const char *group = ki__discovery_builder_text(builder, version->group);
    int r = ki_buf_add_text(&line, group);
    if (r == 0 && group[0] != '\0') {
        r = ki_buf_add_char(&line, '/');
    }
    if (r == 0) {
        r = ki_buf_add_text(&line, ki__discovery_builder_text(builder, version->version));
    }
    if (r == 0) {
        r = keep(builder, ki_buf_str(&line), ret_offset);
    }
    ki_buf_done(&line);
    return r;
}

static size_t count_failures(const ki__discovery_builder *builder)
{
    size_t count = 0;
    for (size_t i = 0; i < builder->version_count; i++) {
        count += builder->versions[i].state != KI__DISCOVERY_KNOWN;
    }
    return count;
}

/* Appends "group/version" of each failure to the text, and stores the offset in `group`. */
static int keep_failures(ki__discovery_builder *builder)
{
    for (size_t i = 0; i < builder->version_count; i++) {
        ki__discovery_version *version = &builder->versions[i];
        if (version->state != KI__DISCOVERY_KNOWN) {
            uint32_t offset = 0;
            int r = keep_failure(builder, version, &offset);
            if (r < 0) {
                return r;
            }
            version->group = offset;
        }
    }
    return 0;
}

static void fill_names(const ki__discovery_builder *builder, ki_discovery *discovery)
{
    const char *text = discovery->text.data;
    for (size_t i = 0; i < builder->draft_count; i++) {
        const ki__discovery_draft *draft = &builder->drafts[i];
        discovery->entries[i] = (ki__discovery_entry){.resource = draft->resource,
                                                      .verbs = draft->verbs,
                                                      .categories = text + draft->categories};
        for (size_t j = 0; j < draft->name_count; j++) {
            const ki__discovery_draft_name *name = &builder->names[draft->first_name + j];
            discovery->names[discovery->name_count++] =
                (ki__discovery_name){.text = text + name->text,
                                     .entry = (uint32_t)i,
                                     .len = name->len,
                                     .form = name->form};
        }
    }
    discovery->count = builder->draft_count;
    ki__sort(discovery->names, discovery->name_count, sizeof(*discovery->names),
             ki__discovery_name_compare);
    for (size_t i = 0; i < builder->version_count; i++) {
        if (builder->versions[i].state != KI__DISCOVERY_KNOWN) {
            discovery->failures[discovery->failure_count++] = text + builder->versions[i].group;
        }
    }
}

int ki__discovery_builder_finish(ki__discovery_builder *builder, ki_discovery **ret_discovery)
{
    drop_doubles(builder);
    int r = keep_failures(builder);
    if (r < 0) {
        return r;
    }
    const ki_alloc *alloc = builder->alloc;
    ki_discovery *discovery = ki__alloc_zero(alloc, sizeof(*discovery));
    if (discovery == NULL) {
        return -ENOMEM;
    }
    ki__refs_init(&discovery->refs);
    discovery->alloc = alloc;
    ki_buf_init(&discovery->text, alloc, KI__DISCOVERY_TEXT_MAX);
    discovery->entries = ki__alloc_array(alloc, builder->draft_count, sizeof(*discovery->entries));
    discovery->names = ki__alloc_array(alloc, builder->name_count, sizeof(*discovery->names));
    discovery->failures =
        ki__alloc_array(alloc, count_failures(builder), sizeof(*discovery->failures));
    if (discovery->entries == NULL || discovery->names == NULL || discovery->failures == NULL) {
        (void)ki_discovery_unref(discovery);
        return -ENOMEM;
    }
    discovery->text = builder->text;
    ki_buf_init(&builder->text, alloc, KI__DISCOVERY_TEXT_MAX);
    fill_names(builder, discovery);
    discovery->left_out = builder->left_out;
    builder->draft_count = 0; /* their references were moved */
    ki__discovery_builder_done(builder);
    *ret_discovery = discovery;
    return 0;
}
