/* SPDX-License-Identifier: Apache-2.0 */
/* Compiling a projection. All paths are followed at once: a place is described by the set of paths
 * that lead to it or through it, and gets a node if a part of it is kept. Places are processed in
 * the order in which they are found, level by level, without recursion. */
#include <errno.h>

#include "base/alloc.h"
#include "base/error.h"
#include "object/path/path.h"
#include "object/projection/keep_tree.h"
#include "object/proto/schema.h"

const ki__keep_node ki__keep_none = {.rest = &ki__keep_none, .misses = true};

enum { WORDS = KI__KEEP_PATHS_MAX / 64, NAMES_MAX = 64 << 10, LIST_MAX = 64 << 10 };

/* A path: names, or [*] with a name of NULL. */
typedef struct pattern {
    bool drop;
    bool given; /* by the program */
    uint8_t count;
    ki_str steps[KI__KEEP_DEPTH_MAX];
} pattern;

/* A place of which a part is kept. */
typedef struct place {
    uint64_t paths[WORDS]; /* those that lead further than this place */
    uint8_t depth;
    bool kept; /* what no path in the set drops */
    uint32_t first_child;
    uint32_t child_count;
    uint32_t rest; /* an index, or one of these */
} place;

enum { PLACE_ALL = UINT32_MAX, PLACE_NONE = UINT32_MAX - 1 };

typedef struct child {
    ki_str name;
    uint32_t place;
} child;

typedef struct build {
    const ki_alloc *alloc;
    ki_error *error;
    bool metadata;     /* nothing else is kept */
    pattern *patterns; /* capacity: KI__KEEP_PATHS_MAX */
    size_t pattern_count;
    char *names; /* of the patterns; capacity: NAMES_MAX */
    size_t names_len;
    place *places;
    size_t place_count;
    size_t place_cap;
    child *children;
    size_t child_count;
    size_t child_cap;
} build;

/* ---- paths ---- */

static int refuse(build *b, int code, ki_str path, const char *why)
{
    size_t len = path.len < 200 ? path.len : 200;
    return ki__error_set(b->error, code, "%.*s: %s", (int)len, path.ptr, why);
}

static int add_step(build *b, pattern *p, ki_str text, const ki__path_step *step)
{
    if (step->kind != KI__PATH_FIELD && step->kind != KI__PATH_ALL) {
        return refuse(b, KI_ERR_SYNTAX, text, "only names and [*] are allowed in keep and drop");
    }
    if (p->count == KI__KEEP_DEPTH_MAX) {
        return refuse(b, KI_ERR_LIMIT, text, "more than 16 steps");
    }
    ki_str name = ki_str_make(NULL, 0);
    if (step->kind == KI__PATH_FIELD) {
        if (step->name.len == 0) {
            return refuse(b, KI_ERR_SYNTAX, text, "empty name");
        }
        if (step->name.len > NAMES_MAX - b->names_len) {
            return refuse(b, KI_ERR_LIMIT, text, "keep and drop are too long");
        }
        char *copy = b->names + b->names_len;
        memcpy(copy, step->name.ptr, step->name.len);
        b->names_len += step->name.len;
        name = ki_str_make(copy, step->name.len);
    }
    p->steps[p->count++] = name;
    return 0;
}

static int add_path(build *b, ki_str text, bool drop, bool given)
{
    char copy[KI__PATH_BYTES_MAX + 1];
    if (text.len > KI__PATH_BYTES_MAX) {
        return refuse(b, KI_ERR_LIMIT, text, "longer than 4096 bytes");
    }
    if (b->pattern_count == KI__KEEP_PATHS_MAX) {
        return refuse(b, KI_ERR_LIMIT, text, "too many paths in keep and drop");
    }
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    ki_path *path = NULL;
    ki_error why = KI_ERROR_INIT;
    int r = ki_path_compile(copy, b->alloc, &path, &why);
    if (r < 0) {
        return r == -ENOMEM ? ki__error_code(b->error, r) : refuse(b, r, text, why.message);
    }
    pattern *p = &b->patterns[b->pattern_count];
    *p = (pattern){.drop = drop, .given = given};
    for (uint8_t i = path->first; r >= 0 && i != KI__PATH_NONE; i = path->steps[i].next) {
        r = add_step(b, p, text, &path->steps[i]);
    }
    (void)ki_path_unref(path);
    /* A list with all its elements is the list; so is a map. */
    while (p->count != 0 && p->steps[p->count - 1].ptr == NULL) {
        p->count--;
    }
    if (r >= 0 && p->count == 0) {
        r = refuse(b, KI_ERR_INVALID, text, "names the whole object");
    }
    b->pattern_count += r >= 0;
    return r < 0 ? r : 0;
}

/* Length of the first path of a list: up to a comma that is not in brackets or quotes. */
static size_t path_len(const char *list)
{
    size_t i = 0;
    size_t brackets = 0;
    char quote = '\0';
    for (; list[i] != '\0'; i++) {
        char c = list[i];
        if (c == '\\' && list[i + 1] != '\0') {
            i++;
        } else if (quote != '\0') {
            quote = c == quote ? '\0' : quote;
        } else if (brackets != 0 && (c == '\'' || c == '"')) {
            quote = c;
        } else if (c == '[') {
            brackets++;
        } else if (c == ']') {
            brackets -= brackets != 0;
        } else if (c == ',' && brackets == 0) {
            break;
        }
    }
    return i;
}

static ki_str trim(ki_str text)
{
    while (text.len != 0 && (unsigned char)text.ptr[0] <= ' ') {
        text = ki_str_make(text.ptr + 1, text.len - 1);
    }
    while (text.len != 0 && (unsigned char)text.ptr[text.len - 1] <= ' ') {
        text.len--;
    }
    return text;
}

static int add_list(build *b, const char *list, const char *option, bool drop)
{
    ki_str all = ki_str_from(list);
    if (all.len > LIST_MAX) {
        return ki__error_set(b->error, KI_ERR_LIMIT, "%s: longer than 64 KiB", option);
    }
    int r = 0;
    while (r >= 0 && all.len != 0) {
        size_t len = path_len(all.ptr);
        ki_str text = trim(ki_str_make(all.ptr, len));
        bool more = len != all.len;
        if (text.len != 0) {
            r = add_path(b, text, drop, true);
        } else if (more || trim(ki_str_from(list)).len != 0) {
            r = ki__error_set(b->error, KI_ERR_SYNTAX, "%s: empty path", option);
        }
        len += more;
        all = ki_str_make(all.ptr + len, all.len - len);
        if (r >= 0 && more && all.len == 0) {
            r = ki__error_set(b->error, KI_ERR_SYNTAX, "%s: empty path", option);
        }
    }
    return r;
}

/* ---- rules ---- */

static bool step_is(ki_str step, const char *name)
{
    return step.ptr != NULL && ki_str_eq_text(step, name);
}

static bool has_keep(const build *b)
{
    bool found = false;
    for (size_t i = 0; i < b->pattern_count; i++) {
        found = found || !b->patterns[i].drop;
    }
    return found;
}

static bool names_label(const pattern *p)
{
    return p->count > 2 && step_is(p->steps[0], "metadata") && step_is(p->steps[1], "labels");
}

/* Whether a path of `keep` names a label. */
static bool names_labels(const build *b)
{
    for (size_t i = 0; i < b->pattern_count; i++) {
        if (names_label(&b->patterns[i])) {
            return true;
        }
    }
    return false;
}

/* Removes given paths that do not name a label. */
static void leave_labels(build *b, size_t always)
{
    size_t left = always;
    for (size_t i = always; i < b->pattern_count; i++) {
        if (names_label(&b->patterns[i])) {
            b->patterns[left++] = b->patterns[i];
        }
    }
    b->pattern_count = left;
}

/* Whether every place at or below `path` is at or below `drop`. */
static bool covers(const pattern *drop, const pattern *path)
{
    if (drop->count > path->count) {
        return false;
    }
    for (size_t i = 0; i < drop->count; i++) {
        ki_str name = drop->steps[i];
        if (name.ptr != NULL && (path->steps[i].ptr == NULL || !ki_str_eq(name, path->steps[i]))) {
            return false;
        }
    }
    return true;
}

static int write_pattern(const pattern *p, char *text, size_t size)
{
    size_t len = 0;
    for (size_t i = 0; i < p->count; i++) {
        ki_str step = p->steps[i].ptr != NULL ? p->steps[i] : ki_str_from("[*]");
        size_t dot = p->steps[i].ptr != NULL;
        if (len + dot + step.len >= size) {
            break;
        }
        text[len] = '.';
        memcpy(text + len + dot, step.ptr, step.len);
        len += dot + step.len;
    }
    text[len] = '\0';
    return (int)len;
}

/* Paths that drop something that must be kept, by rule or by `keep`. */
static int check_drops(build *b, size_t always)
{
    char drop[256];
    char path[256];
    for (size_t i = 0; i < b->pattern_count; i++) {
        for (size_t j = 0; b->patterns[i].drop && j < b->pattern_count; j++) {
            const pattern *kept = &b->patterns[j];
            if (kept->drop || !(kept->given || j < always) || !covers(&b->patterns[i], kept)) {
                continue;
            }
            (void)write_pattern(&b->patterns[i], drop, sizeof(drop));
            (void)write_pattern(kept, path, sizeof(path));
            return ki__error_set(b->error, KI_ERR_INVALID,
                                 kept->given ? "drop: %s: drops all of %s in keep"
                                             : "drop: %s: %s is always kept",
                                 drop, path);
        }
    }
    return 0;
}

static int add_paths(build *b, const char *keep, const char *drop)
{
    static const char *const always[] = {
        "kind",
        "apiVersion",
        "metadata.name",
        "metadata.uid",
        "metadata.namespace",
        "metadata.resourceVersion",
        "metadata.generation",
    };
    static const char *const usual[] = {
        "metadata.creationTimestamp",
        "metadata.deletionTimestamp",
        "metadata.ownerReferences",
        "metadata.labels",
    };
    enum { ALWAYS = sizeof(always) / sizeof(always[0]), USUAL = sizeof(usual) / sizeof(usual[0]) };
    int r = 0;
    for (size_t i = 0; r >= 0 && i < ALWAYS; i++) {
        r = add_path(b, ki_str_from(always[i]), false, false);
    }
    r = r < 0 ? r : add_list(b, keep, "keep", false);
    bool some = b->metadata || b->pattern_count > ALWAYS;
    if (r >= 0 && b->metadata) {
        leave_labels(b, ALWAYS);
    }
    bool labels = names_labels(b);
    r = r < 0 ? r : add_list(b, drop, "drop", true);
    r = r < 0 ? r : check_drops(b, ALWAYS);
    for (size_t i = 0; r >= 0 && some && i < (labels ? USUAL - 1 : USUAL); i++) {
        r = add_path(b, ki_str_from(usual[i]), false, false);
    }
    if (r >= 0 && !some) { /* everything is kept: only the drops count */
        memmove(b->patterns, b->patterns + ALWAYS,
                (b->pattern_count - ALWAYS) * sizeof(b->patterns[0]));
        b->pattern_count -= ALWAYS;
    }
    return r < 0 ? r : 0;
}

/* ---- places ---- */

static bool is_in(const place *p, size_t path)
{
    return (p->paths[path / 64] >> (path % 64) & 1) != 0;
}

static int add_place(build *b, const place *made, uint32_t *ret_place)
{
    if (b->place_count == KI__KEEP_NODES_MAX) {
        return ki__error_set(b->error, KI_ERR_LIMIT,
                             "keep and drop: more than 4096 different places");
    }
    void *block = b->places;
    int r =
        ki__array_reserve(b->alloc, &block, &b->place_cap, b->place_count + 1, sizeof(*b->places));
    if (r < 0) {
        return ki__error_code(b->error, r);
    }
    b->places = block;
    b->places[b->place_count] = *made;
    *ret_place = (uint32_t)b->place_count++;
    return 0;
}

/* The place one step below another: of the name, or of all others if it is NULL. */
static int step_to(build *b, uint32_t from, ki_str name, uint32_t *ret_place)
{
    const place *at = &b->places[from];
    place next = {.depth = (uint8_t)(at->depth + 1), .kept = at->kept};
    place keeps = {0};
    bool dropped = false;
    bool drops = false;
    bool more = false;
    for (size_t i = 0; i < b->pattern_count; i++) {
        const pattern *p = &b->patterns[i];
        if (!is_in(at, i) || (p->steps[at->depth].ptr != NULL &&
                              (name.ptr == NULL || !ki_str_eq(p->steps[at->depth], name)))) {
            continue;
        }
        uint64_t bit = UINT64_C(1) << (i % 64);
        if (p->count == next.depth) {
            dropped = dropped || p->drop;
            next.kept = next.kept || !p->drop;
        } else if (p->drop) {
            drops = true;
            next.paths[i / 64] |= bit;
        } else {
            more = true;
            keeps.paths[i / 64] |= bit;
        }
    }
    if (dropped || (!next.kept && !more)) {
        *ret_place = PLACE_NONE;
        return 0;
    }
    if (next.kept && !drops) {
        *ret_place = PLACE_ALL;
        return 0;
    }
    for (size_t i = 0; !next.kept && i < WORDS; i++) {
        next.paths[i] |= keeps.paths[i];
    }
    return add_place(b, &next, ret_place);
}

static int add_child(build *b, uint32_t at, ki_str name)
{
    uint32_t to;
    int r = step_to(b, at, name, &to);
    if (r < 0) {
        return r;
    }
    void *block = b->children;
    r = ki__array_reserve(b->alloc, &block, &b->child_cap, b->child_count + 1,
                          sizeof(*b->children));
    if (r < 0) {
        return ki__error_code(b->error, r);
    }
    b->children = block;
    b->children[b->child_count++] = (child){name, to};
    b->places[at].child_count++;
    return 0;
}

static bool has_child(const build *b, uint32_t at, ki_str name)
{
    const place *p = &b->places[at];
    for (uint32_t i = 0; i < p->child_count; i++) {
        if (ki_str_eq(b->children[p->first_child + i].name, name)) {
            return true;
        }
    }
    return false;
}

static int expand(build *b, uint32_t at)
{
    b->places[at].first_child = (uint32_t)b->child_count;
    uint8_t depth = b->places[at].depth;
    int r = 0;
    for (size_t i = 0; r >= 0 && i < b->pattern_count; i++) {
        ki_str name = b->patterns[i].steps[depth];
        if (is_in(&b->places[at], i) && name.ptr != NULL && !has_child(b, at, name)) {
            r = add_child(b, at, name);
        }
    }
    uint32_t rest = PLACE_NONE;
    r = r < 0 ? r : step_to(b, at, ki_str_make(NULL, 0), &rest);
    b->places[at].rest = rest;
    return r;
}

static int build_places(build *b)
{
    place root = {.kept = !has_keep(b)};
    for (size_t i = 0; i < b->pattern_count; i++) {
        root.paths[i / 64] |= UINT64_C(1) << (i % 64);
    }
    uint32_t first;
    int r = add_place(b, &root, &first);
    for (uint32_t i = 0; r >= 0 && i < b->place_count; i++) {
        r = expand(b, i);
    }
    return r;
}

/* ---- the result ---- */

/* The offset of a name in the schema tables, which end with an empty name; 0 if it is in none. */
static uint16_t find_schema_name(ki_str name)
{
    for (size_t at = 1; ki__schema_names[at] != '\0';) {
        ki_str text = ki__schema_name((uint16_t)at);
        if (ki_str_eq(text, name)) {
            return (uint16_t)at;
        }
        at += 1 + text.len;
    }
    return 0;
}

static const ki__keep_node *node_of(const ki__keep_node *nodes, uint32_t at)
{
    return at == PLACE_ALL ? NULL : at == PLACE_NONE ? &ki__keep_none : &nodes[at];
}

static void fill(ki_projection *projection, const build *b)
{
    ki__keep_node *nodes = projection->nodes;
    memcpy(projection->names, b->names, b->names_len);
    for (size_t i = 0; i < b->child_count; i++) {
        ki_str name = b->children[i].name;
        projection->children[i] = (ki__keep_child){
            .name = ki_str_make(projection->names + (name.ptr - b->names), name.len),
            .node = node_of(nodes, b->children[i].place),
            .schema_name = find_schema_name(name),
        };
    }
    for (size_t i = 0; i < b->place_count; i++) {
        const place *p = &b->places[i];
        nodes[i] = (ki__keep_node){
            .children = projection->children + p->first_child,
            .count = p->child_count,
            .rest = node_of(nodes, p->rest),
            .misses = p->rest == PLACE_NONE,
        };
        for (uint32_t j = 0; j < p->child_count; j++) {
            nodes[i].misses |= b->children[p->first_child + j].place == PLACE_NONE;
        }
    }
    projection->root = b->pattern_count != 0 ? &nodes[0] : NULL;
    projection->metadata = ki__keep_step(projection->root, "metadata");
    projection->labels = ki__keep_step(projection->metadata, "labels");
}

static ki_projection *finish(const build *b)
{
    size_t nodes = b->place_count * sizeof(ki__keep_node);
    size_t children = b->child_count * sizeof(ki__keep_child);
    ki_projection *projection =
        ki__alloc_zero(b->alloc, sizeof(*projection) + nodes + children + b->names_len);
    if (projection == NULL) {
        return NULL;
    }
    ki__refs_init(&projection->refs);
    projection->alloc = b->alloc;
    projection->is_reduction = b->metadata;
    projection->nodes = (ki__keep_node *)(projection + 1);
    projection->children = (ki__keep_child *)(projection->nodes + b->place_count);
    projection->names = (char *)(projection->children + b->child_count);
    fill(projection, b);
    return projection;
}
_Static_assert(sizeof(ki_projection) % _Alignof(ki__keep_node) == 0, "nodes follow");
_Static_assert(sizeof(ki__keep_node) % _Alignof(ki__keep_child) == 0, "children follow");

static int compile(const char *keep, const char *drop, const ki_alloc *alloc, bool metadata,
                   ki_projection **ret_projection, ki_error *error)
{
    build b = {.alloc = ki__alloc_or_default(alloc), .error = error, .metadata = metadata};
    ki_projection *made = NULL;
    b.patterns = ki__alloc_array(b.alloc, KI__KEEP_PATHS_MAX, sizeof(*b.patterns));
    b.names = ki__alloc(b.alloc, NAMES_MAX);
    int r = b.patterns != NULL && b.names != NULL ? 0 : ki__error_code(error, -ENOMEM);
    r = r < 0 ? r : add_paths(&b, keep, drop);
    r = r < 0 ? r : build_places(&b);
    if (r >= 0) {
        made = finish(&b);
        r = made != NULL ? 0 : ki__error_code(error, -ENOMEM);
    }
    ki__free(b.alloc, b.patterns);
    ki__free(b.alloc, b.names);
    ki__free(b.alloc, b.places);
    ki__free(b.alloc, b.children);
    if (r >= 0) {
        *ret_projection = made;
    }
    return r;
}

int ki_projection_new(const char *keep, const char *drop, const ki_alloc *alloc,
                      ki_projection **ret_projection, ki_error *error)
{
    KI__REQUIRE(ret_projection, error);
    return compile(keep, drop, alloc, false, ret_projection, error);
}

int ki__projection_new_metadata(const char *keep, const char *drop, const ki_alloc *alloc,
                                ki_projection **ret_projection, ki_error *error)
{
    return compile(keep, drop, alloc, true, ret_projection, error);
}

ki_projection *ki_projection_ref(const ki_projection *projection)
{
    if (projection == NULL) {
        return NULL;
    }
    ki_projection *shared = (ki_projection *)(uintptr_t)projection; /* only the count changes */
    ki__refs_take(&shared->refs);
    return shared;
}

ki_projection *ki_projection_unref(const ki_projection *projection)
{
    ki_projection *shared = (ki_projection *)(uintptr_t)projection;
    if (shared != NULL && ki__refs_drop(&shared->refs)) {
        ki__free(shared->alloc, shared);
    }
    return NULL;
}
