/* SPDX-License-Identifier: Apache-2.0 */
#include "object/edit/field_set.h"

#include <errno.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "object/edit/json_out.h"
#include "object/json/json_scan.h"

#define PIECE_BYTES ((size_t)8 << 10)

struct ki__field_piece {
    struct ki__field_piece *next;
    size_t size;
    char bytes[];
};

/* ---- text ---- */

void ki__field_text_init(ki__field_text *text, const ki_alloc *alloc)
{
    *text = (ki__field_text){.alloc = ki__alloc_or_default(alloc)};
}

void ki__field_text_done(ki__field_text *text)
{
    for (struct ki__field_piece *next, *piece = text->pieces; piece != NULL; piece = next) {
        next = piece->next;
        ki__free(text->alloc, piece);
    }
    *text = (ki__field_text){.alloc = text->alloc};
}

int ki__field_text_add(ki__field_text *text, ki_str path, ki_str *ret_path)
{
    if (path.len > KI__FIELD_TEXT_MAX - text->bytes) {
        return KI_ERR_LIMIT;
    }
    if (text->pieces == NULL || text->left < path.len) {
        size_t size = path.len > PIECE_BYTES ? path.len : PIECE_BYTES;
        struct ki__field_piece *piece = ki__alloc(text->alloc, sizeof(*piece) + size);
        if (piece == NULL) {
            return -ENOMEM;
        }
        piece->next = text->pieces;
        piece->size = size;
        text->pieces = piece;
        text->left = size;
    }
    char *place = text->pieces->bytes + (text->pieces->size - text->left);
    memcpy(place, path.ptr, path.len);
    text->left -= path.len;
    text->bytes += path.len;
    *ret_path = ki_str_make(place, path.len);
    return 0;
}

/* ---- paths ---- */

int ki__field_path_compare(ki_str a, ki_str b)
{
    size_t len = a.len < b.len ? a.len : b.len;
    size_t i = 0;
    while (i < len && a.ptr[i] == b.ptr[i]) {
        i++;
    }
    if (i < len) { /* the separator, 0xff, wraps around to 0: it sorts first */
        return (unsigned char)(a.ptr[i] + 1) < (unsigned char)(b.ptr[i] + 1) ? -1 : 1;
    }
    return a.len < b.len ? -1 : a.len > b.len ? 1 : 0;
}

bool ki__field_path_is_in(ki_str path, ki_str above)
{
    return path.len >= above.len && memcmp(path.ptr, above.ptr, above.len) == 0 &&
           (path.len == above.len || (unsigned char)path.ptr[above.len] == KI__FIELD_SEPARATOR);
}

/* Removes and returns the first element of a path. */
static ki_str take_element(ki_str *path)
{
    const char *end = memchr(path->ptr, KI__FIELD_SEPARATOR, path->len);
    size_t len = end != NULL ? (size_t)(end - path->ptr) : path->len;
    ki_str element = ki_str_make(path->ptr, len);
    size_t used = end != NULL ? len + 1 : len;
    *path = ki_str_make(path->ptr + used, path->len - used);
    return element;
}

/* Writes {"name":"web"} as name="web". */
static void write_key(ki_str json, ki__out *out)
{
    ki__json_scan scan;
    bool more = true;
    ki__json_scan_init(&scan, json, 2, NULL);
    const char *p = json.len != 0 ? ki__json_scan_open(&scan, json.ptr) : NULL;
    for (bool first = true; p != NULL && more && *p != '}' && out->error == 0; first = false) {
        ki_str name;
        const char *value = ki__json_scan_name(&scan, p, &name);
        p = value != NULL ? ki__json_scan_value(&scan, value) : NULL;
        if (p == NULL) {
            break;
        }
        ki__out_text(out, first ? "" : ",");
        ki__out_str(out, name);
        ki__out_char(out, '=');
        ki__out_str(out, ki_str_make(value, (size_t)(p - value)));
        p = ki__json_scan_next(&scan, p, &more);
    }
}

void ki__field_path_write(ki_str path, ki__out *out)
{
    while (path.len != 0 && out->error == 0) {
        ki_str element = take_element(&path);
        ki_str rest =
            element.len > 2 ? ki_str_make(element.ptr + 2, element.len - 2) : ki_str_make("", 0);
        char kind = (char)(element.len != 0 ? element.ptr[0] : 'f');
        ki__out_text(out, kind == 'f' ? "." : kind == 'v' ? "[=" : "[");
        if (kind == 'k') {
            write_key(rest, out);
        } else {
            ki__out_str(out, rest);
        }
        ki__out_text(out, kind == 'f' ? "" : "]");
    }
}

/* ---- sets ---- */

void ki__field_set_init(ki__field_set *set, const ki_alloc *alloc)
{
    *set = (ki__field_set){.alloc = ki__alloc_or_default(alloc)};
}

void ki__field_set_done(ki__field_set *set)
{
    ki__free(set->alloc, set->paths);
    *set = (ki__field_set){.alloc = set->alloc};
}

static int reserve(ki__field_set *set, size_t count)
{
    if (count > KI__FIELD_PATHS_MAX) {
        return KI_ERR_LIMIT;
    }
    void *paths = set->paths;
    int r = ki__array_reserve(set->alloc, &paths, &set->cap, count, sizeof(*set->paths));
    set->paths = paths;
    return r;
}

/* Number of paths that sort before this one. */
static size_t count_before(const ki__field_set *set, ki_str path)
{
    size_t low = 0;
    size_t high = set->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ki__field_path_compare(set->paths[middle], path) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

int ki__field_set_add(ki__field_set *set, ki_str path)
{
    size_t at = set->count;
    if (at != 0 && ki__field_path_compare(set->paths[at - 1], path) >= 0) {
        at = count_before(set, path);
        if (ki_str_eq(set->paths[at], path)) {
            return 0;
        }
    }
    int r = reserve(set, set->count + 1);
    if (r == 0) {
        memmove(set->paths + at + 1, set->paths + at, (set->count - at) * sizeof(*set->paths));
        set->paths[at] = path;
        set->count++;
    }
    return r;
}

int ki__field_set_unite(ki__field_set *set, const ki__field_set *other)
{
    int r = reserve(set, set->count + other->count);
    if (r < 0 || other->count == 0) {
        return r;
    }
    /* Merge from the end into the free space behind, then close the gap left by duplicates. */
    size_t total = set->count + other->count;
    size_t i = set->count;
    size_t j = other->count;
    size_t to = total;
    while (j != 0 || i != 0) {
        int order = i == 0   ? -1
                    : j == 0 ? 1
                             : ki__field_path_compare(set->paths[i - 1], other->paths[j - 1]);
        set->paths[--to] = order < 0 ? other->paths[j - 1] : set->paths[i - 1];
        i -= order >= 0 ? 1 : 0;
        j -= order <= 0 ? 1 : 0;
    }
    memmove(set->paths, set->paths + to, (total - to) * sizeof(*set->paths));
    set->count = total - to;
    return 0;
}

void ki__field_set_subtract(ki__field_set *set, const ki__field_set *other)
{
    size_t kept = 0;
    size_t j = 0;
    for (size_t i = 0; i < set->count; i++) {
        while (j < other->count && ki__field_path_compare(other->paths[j], set->paths[i]) < 0) {
            j++;
        }
        if (j == other->count || !ki_str_eq(other->paths[j], set->paths[i])) {
            set->paths[kept++] = set->paths[i];
        }
    }
    set->count = kept;
}

bool ki__field_set_has(const ki__field_set *set, ki_str path)
{
    size_t at = count_before(set, path);
    return at < set->count && ki_str_eq(set->paths[at], path);
}

bool ki__field_set_has_below(const ki__field_set *set, ki_str path)
{
    size_t at = count_before(set, path);
    at += at < set->count && ki_str_eq(set->paths[at], path) ? 1 : 0;
    return at < set->count && ki__field_path_is_in(set->paths[at], path);
}

/* ---- parsing FieldsV1 ---- */

typedef struct member {
    ki_str name;
    ki_str value;
} member;

static int compare_members(const void *a, const void *b)
{
    return ki_str_cmp(((const member *)a)->name, ((const member *)b)->name);
}

/* Writes the members of a key sorted, without white space. */
static int add_key(ki_str json, ki_buf *path)
{
    member members[KI__FIELD_KEYS_MAX];
    size_t count = 0;
    bool more = true;
    ki__json_scan scan;
    ki__json_scan_init(&scan, json, 8, NULL);
    const char *p =
        json.len != 0 && json.ptr[0] == '{' ? ki__json_scan_open(&scan, json.ptr) : NULL;
    more = p != NULL && *p != '}';
    while (p != NULL && more) {
        if (count == KI__FIELD_KEYS_MAX) {
            return KI_ERR_INVALID;
        }
        member *m = &members[count++];
        const char *value = ki__json_scan_name(&scan, p, &m->name);
        p = value != NULL ? ki__json_scan_value(&scan, value) : NULL;
        if (p != NULL) {
            m->value = ki_str_make(value, (size_t)(p - value));
            p = ki__json_scan_next(&scan, p, &more);
        }
    }
    p = p != NULL ? ki__json_scan_close(&scan, p) : NULL;
    if (p == NULL || ki__json_scan_end(&scan, p) == NULL) {
        return KI_ERR_INVALID;
    }
    ki__sort(members, count, sizeof(members[0]), compare_members);
    ki__out out = ki__out_to(path);
    ki__put_map(&out);
    for (size_t i = 0; i < count && out.error == 0; i++) {
        ki__put_comma(&out);
        ki__out_char(&out, '"');
        ki__out_str(&out, members[i].name); /* already escaped */
        ki__out_text(&out, "\":");
        ki__put_json(&out, members[i].value);
    }
    ki__put_end(&out);
    return out.error;
}

/* Appends the path element for a name. 1; 0 for an unknown element type, as future versions may
 * have. */
static int add_element(ki_str name, ki_buf *path)
{
    char kind = (char)(name.len >= 2 && name.ptr[1] == ':' ? name.ptr[0] : '\0');
    if (kind != 'f' && kind != 'k' && kind != 'v' && kind != 'i') {
        return name.len < 2 || name.ptr[1] != ':' ? KI_ERR_INVALID : 0;
    }
    ki_str rest = ki_str_make(name.ptr + 2, name.len - 2);
    int r = 0;
    if (kind == 'v' && ki__json_check(rest, 8, NULL) < 0) {
        r = KI_ERR_INVALID;
    }
    for (size_t i = 0; kind == 'i' && i < rest.len; i++) {
        r = rest.ptr[i] >= '0' && rest.ptr[i] <= '9' ? r : KI_ERR_INVALID;
    }
    const char separator[] = {(char)KI__FIELD_SEPARATOR, '\0'};
    ki__out out = ki__out_to(path);
    ki__out_fail(&out, r);
    ki__out_text(&out, path->len != 0 ? separator : "");
    ki__out_str(&out, ki_str_make(name.ptr, kind == 'k' ? 2 : name.len));
    if (kind == 'k' && out.error == 0) {
        ki__out_fail(&out, add_key(rest, path));
    }
    return out.error < 0 ? out.error : 1;
}

typedef struct reader {
    ki__field_set *set;
    ki__field_text *text;
    ki_buf path;
    ki_buf name;
    size_t depth;
    ki_value_iter iters[KI__FIELD_DEPTH_MAX];
    size_t lens[KI__FIELD_DEPTH_MAX]; /* path length at each level */
} reader;

static int add_path(reader *r)
{
    ki_str path;
    int code = ki__field_text_add(r->text, ki_buf_str(&r->path), &path);
    if (code == 0) { /* sorted at the end */
        code = reserve(r->set, r->set->count + 1);
    }
    if (code == 0) {
        r->set->paths[r->set->count++] = path;
    }
    return code;
}

/* A member: the path itself if it is "." or an empty map; otherwise the paths below it. */
static int read_member(reader *r, const ki_value *key, const ki_value *value)
{
    ki_buf_clear(&r->name);
    int code = ki_value_copy_string(key, &r->name);
    if (code < 0 || ki_value_type(value) != KI_TYPE_MAP) {
        return code < 0 ? code : KI_ERR_INVALID;
    }
    if (ki_str_eq_text(ki_buf_str(&r->name), ".")) {
        return r->path.len != 0 ? add_path(r) : 0;
    }
    code = add_element(ki_buf_str(&r->name), &r->path);
    if (code > 0 && ki_value_count(value) == 0) {
        code = add_path(r);
    } else if (code > 0 && r->depth == KI__FIELD_DEPTH_MAX) {
        code = KI_ERR_LIMIT;
    } else if (code > 0) {
        r->lens[r->depth] = r->path.len;
        return ki_value_iter_begin(value, &r->iters[r->depth++]);
    }
    return code;
}

static int compare_paths(const void *a, const void *b)
{
    return ki__field_path_compare(*(const ki_str *)a, *(const ki_str *)b);
}

static void sort(ki__field_set *set)
{
    size_t kept = 0;
    ki__sort(set->paths, set->count, sizeof(*set->paths), compare_paths);
    for (size_t i = 0; i < set->count; i++) {
        if (kept == 0 || !ki_str_eq(set->paths[kept - 1], set->paths[i])) {
            set->paths[kept++] = set->paths[i];
        }
    }
    set->count = kept;
}

static int read_all(reader *r)
{
    int code = 0;
    while (code == 0 && r->depth != 0) {
        ki_value key;
        ki_value value;
        ki__buf_truncate(&r->path, r->lens[r->depth - 1]);
        if (ki_value_iter_next(&r->iters[r->depth - 1], &key, &value) <= 0) {
            r->depth--;
            continue;
        }
        code = read_member(r, &key, &value);
    }
    sort(r->set);
    return code;
}

int ki__field_set_read(ki__field_set *set, const ki_value *fields, ki__field_text *text)
{
    reader *r = ki__alloc_zero(set->alloc, sizeof(*r));
    if (r == NULL) {
        return -ENOMEM;
    }
    r->set = set;
    r->text = text;
    ki_buf_init(&r->path, set->alloc, KI__FIELD_TEXT_MAX);
    ki_buf_init(&r->name, set->alloc, KI__FIELD_TEXT_MAX);
    int code = KI_ERR_INVALID;
    if (ki_value_type(fields) == KI_TYPE_MAP && ki_value_iter_begin(fields, &r->iters[0]) == 0) {
        r->depth = 1;
        code = read_all(r);
    }
    ki_buf_done(&r->path);
    ki_buf_done(&r->name);
    ki__free(set->alloc, r);
    return code;
}

/* ---- writing FieldsV1 ---- */

static size_t count_elements(ki_str path)
{
    size_t count = path.len != 0 ? 1 : 0;
    for (size_t i = 0; i < path.len; i++) {
        count += (unsigned char)path.ptr[i] == KI__FIELD_SEPARATOR ? 1 : 0;
    }
    return count;
}

/* Number of leading elements that two paths have in common. */
static size_t count_common(ki_str a, ki_str b)
{
    size_t common = 0;
    while (a.len != 0 && b.len != 0 && ki_str_eq(take_element(&a), take_element(&b))) {
        common++;
    }
    return common;
}

/* Writes the path from element `from` on; leaves all maps open. */
static void open_elements(ki_str path, size_t from, ki__out *out)
{
    for (size_t i = 0; path.len != 0 && out->error == 0; i++) {
        ki_str element = take_element(&path);
        if (i >= from) {
            ki__put_name_str(out, element);
            ki__out_char(out, '{');
        }
    }
}

void ki__field_set_write(const ki__field_set *set, ki__out *out)
{
    ki_str last = ki_str_make("", 0);
    ki__out_char(out, '{');
    for (size_t i = 0; i < set->count && out->error == 0; i++) {
        ki_str path = set->paths[i];
        size_t common = count_common(last, path);
        size_t open = count_elements(last);
        if (common == open && open != 0) { /* below the last path, which is itself in the set */
            ki__out_text(out, "\".\":{}");
        }
        for (; open > common; open--) {
            ki__out_char(out, '}');
        }
        open_elements(path, common, out);
        last = path;
    }
    for (size_t open = count_elements(last); open != 0; open--) {
        ki__out_char(out, '}');
    }
    ki__out_char(out, '}');
}
