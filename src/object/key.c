/* SPDX-License-Identifier: Apache-2.0 */
/* Keys and resourceVersions. Splitting a joined key always yields the original two parts. */
#include "object/key.h"

#include <kinformer/buf.h>
#include <kinformer/error.h>
#include <kinformer/key.h>

#include "base/bytes.h"
#include "base/error.h"

int ki_key_join(ki_str name_space, ki_str name, ki_buf *out)
{
    KI__REQUIRE(out, NULL);
    if (name.len == 0 || ki__key_has_slash(name_space) || ki__key_has_slash(name)) {
        return KI_ERR_KEY;
    }
    size_t prefix = name_space.len != 0 ? name_space.len + 1 : 0;
    if (name.len > SIZE_MAX - prefix) {
        return KI_ERR_LIMIT;
    }
    char *room;
    int r = ki_buf_reserve(out, prefix + name.len, &room);
    if (r < 0) {
        return r;
    }
    if (prefix != 0) {
        memcpy(room, name_space.ptr, name_space.len);
        room[name_space.len] = '/';
    }
    memcpy(room + prefix, name.ptr, name.len);
    ki_buf_commit(out, prefix + name.len);
    return 0;
}

int ki_key_split(ki_str key, ki_str *ret_namespace, ki_str *ret_name)
{
    KI__REQUIRE(ret_namespace, NULL);
    KI__REQUIRE(ret_name, NULL);
    const char *slash = key.len != 0 ? memchr(key.ptr, '/', key.len) : NULL;
    ki_str name_space = ki_str_make(key.ptr, slash != NULL ? (size_t)(slash - key.ptr) : 0);
    ki_str name = key;
    if (slash != NULL) {
        name = ki_str_make(slash + 1, key.len - name_space.len - 1);
    }
    if (name.len == 0 || ki__key_has_slash(name)) {
        return KI_ERR_KEY;
    }
    *ret_namespace = name_space;
    *ret_name = name;
    return 0;
}

/* Whether all eight bytes are ASCII digits: the high nibble is 3, also after adding 6. */
static bool are_digits(uint64_t word)
{
    const uint64_t upper = UINT64_C(0xf0f0f0f0f0f0f0f0);
    const uint64_t threes = UINT64_C(0x3030303030303030);
    return (word & upper) == threes && ((word + UINT64_C(0x0606060606060606)) & upper) == threes;
}

static bool has_order(ki_str version)
{
    if (version.len == 0 || version.ptr[0] == '0') {
        return false;
    }
    /* Called for every event, so eight bytes at a time; the last eight may overlap earlier ones. */
    size_t i = 0;
    bool other = false;
    for (; i + 8 <= version.len; i += 8) {
        other |= !are_digits(ki__load_le64(version.ptr + i));
    }
    if (i != 0) {
        return !other && are_digits(ki__load_le64(version.ptr + version.len - 8));
    }
    for (; i < version.len; i++) {
        other |= (unsigned char)(version.ptr[i] - '0') > 9;
    }
    return !other;
}

int ki_resource_version_compare(ki_str a, ki_str b, int *ret_order)
{
    KI__REQUIRE(ret_order, NULL);
    if (!has_order(a) || !has_order(b)) {
        return KI_ERR_INVALID;
    }
    if (a.len != b.len) { /* without leading zeros the longer number is larger */
        *ret_order = a.len < b.len ? -1 : 1;
        return 0;
    }
    int order = memcmp(a.ptr, b.ptr, a.len);
    *ret_order = order < 0 ? -1 : order > 0 ? 1 : 0;
    return 0;
}
