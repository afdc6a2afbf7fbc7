/* SPDX-License-Identifier: Apache-2.0 */
/* Best-effort decoding of untrusted bytes: the incremental scanners stop at invalid bytes, and only
 * what they reported until then is used. */
#include "wire/peek.h"

#include <errno.h>

#include <kinformer/key.h>

#include "object/json/json_scan.h"
#include "object/json/json_stream.h"
#include "object/json/json_string.h"
#include "wire/proto_stream.h"

typedef enum wanted {
    WANTED_NAME,
    WANTED_NAMESPACE,
    WANTED_RESOURCE_VERSION,
    WANTED_MAX /* also: none of them */
} wanted;

enum { TEXT_MAX = 1024 };

typedef struct found {
    struct {
        unsigned times;
        bool plain; /* a valid C string; otherwise the rest is meaningless */
        size_t len;
        char text[TEXT_MAX];
    } strings[WANTED_MAX];
    unsigned metadata_times;
    bool metadata_over;
} found;

/* ---- JSON ---- */

static bool is_name(ki_str quoted, const char *name)
{
    ki_str raw = ki_str_make(quoted.ptr + 1, quoted.len - 2);
    return ki__json_check(quoted, 1, NULL) == 0 && ki__json_raw_equals(raw, ki_str_from(name));
}

static wanted wanted_of_name(ki_str quoted)
{
    if (is_name(quoted, "name")) {
        return WANTED_NAME;
    }
    if (is_name(quoted, "namespace")) {
        return WANTED_NAMESPACE;
    }
    return is_name(quoted, "resourceVersion") ? WANTED_RESOURCE_VERSION : WANTED_MAX;
}

static void take_json(found *f, wanted which, ki_str value)
{
    char *text = f->strings[which].text;
    f->strings[which].times++;
    if (value.ptr[0] != '"' || ki__json_check(value, 1, NULL) < 0) {
        f->strings[which].plain = ki_str_eq_text(value, "null"); /* null means absent */
        return;
    }
    size_t len = ki__json_decode(ki_str_make(value.ptr + 1, value.len - 2), text, TEXT_MAX);
    f->strings[which].plain = len <= TEXT_MAX && memchr(text, '\0', len) == NULL;
    f->strings[which].len = len;
}

static void peek_json(ki_str bytes, found *f)
{
    ki__json_stream stream;
    ki__json_event event;
    ki__json_stream_init(&stream, UINT64_MAX, INT32_MAX);
    ki__json_stream_enter(&stream, 1);
    wanted which = WANTED_MAX;
    size_t taken;
    for (size_t at = 0; ki__json_stream_feed(&stream, bytes.ptr + at, bytes.len - at, &taken,
                                             &event, NULL) == 1;) {
        at += taken;
        ki_str text = ki_str_make(bytes.ptr + event.start, (size_t)(event.end - event.start));
        if (event.type == KI__JSON_NAME && event.depth == 1) {
            bool metadata = is_name(text, "metadata");
            f->metadata_times += metadata;
            ki__json_stream_enter(&stream, metadata ? 2 : 1);
        } else if (event.type == KI__JSON_NAME) {
            which = wanted_of_name(text);
        } else if (event.type == KI__JSON_VALUE && event.depth == 2 && which != WANTED_MAX) {
            take_json(f, which, text);
            which = WANTED_MAX;
        } else if (event.type == KI__JSON_END) {
            f->metadata_over = f->metadata_over || event.depth == 1;
        }
    }
}

/* ---- protobuf ---- */

/* Field numbers of Unknown, of every kind, and of ObjectMeta. */
enum { UNKNOWN_RAW = 2, KIND_METADATA = 1 };
enum { META_NAME = 1, META_NAMESPACE = 3, META_RESOURCE_VERSION = 6 };

static wanted wanted_of_number(uint32_t number)
{
    switch (number) {
    case META_NAME:
        return WANTED_NAME;
    case META_NAMESPACE:
        return WANTED_NAMESPACE;
    case META_RESOURCE_VERSION:
        return WANTED_RESOURCE_VERSION;
    default:
        return WANTED_MAX;
    }
}

/* Accepts printable text only: Go allows any bytes in protobuf strings. */
static void take_proto(found *f, wanted which, ki_str value)
{
    f->strings[which].times++;
    if (value.len > TEXT_MAX) {
        return;
    }
    for (size_t i = 0; i < value.len; i++) {
        if (value.ptr[i] <= ' ' || value.ptr[i] > '~') {
            return;
        }
        f->strings[which].text[i] = value.ptr[i];
    }
    f->strings[which].plain = true;
    f->strings[which].len = value.len;
}

static void peek_proto(ki_str bytes, found *f)
{
    bool envelope = bytes.len >= 4 && memcmp(bytes.ptr, "k8s", 4) == 0;
    if (envelope) {
        bytes = ki_str_make(bytes.ptr + 4, bytes.len - 4);
    }
    ki__proto_stream stream;
    ki__proto_event event;
    uint32_t depth = envelope ? 2 : 1; /* of the fields of metadata */
    ki__proto_stream_init(&stream, UINT64_MAX);
    stream.enter[0] = envelope ? UNKNOWN_RAW : KIND_METADATA;
    stream.enter[1] = envelope ? KIND_METADATA : 0;
    size_t taken;
    for (size_t at = 0; ki__proto_stream_feed(&stream, bytes.ptr + at, bytes.len - at, &taken,
                                              &event, NULL) == 1;) {
        at += taken;
        if (event.type == KI__PROTO_BEGIN && event.depth + 1 == depth) {
            f->metadata_times++;
        } else if (event.type == KI__PROTO_END && event.depth + 1 == depth) {
            f->metadata_over = true;
        } else if (event.type == KI__PROTO_VALUE && event.depth == depth &&
                   wanted_of_number(event.number) != WANTED_MAX) {
            take_proto(f, wanted_of_number(event.number),
                       ki_str_make(bytes.ptr + event.start, (size_t)(event.end - event.start)));
        }
    }
}

/* ---- common ---- */

/* Whether the value is certain: present once, or absent. Empty means absent. */
static bool is_known(const found *f, wanted which, ki_str *ret_text)
{
    *ret_text = ki_str_make(f->strings[which].text, f->strings[which].len);
    return f->strings[which].times == 1 ? f->strings[which].plain
                                        : f->strings[which].times == 0 && f->metadata_over;
}

int ki__peek(ki_encoding encoding, ki_str bytes, ki_buf *key, ki_buf *resource_version)
{
    found f;
    f.metadata_times = 0;
    f.metadata_over = false;
    for (size_t i = 0; i < WANTED_MAX; i++) {
        f.strings[i].times = 0;
        f.strings[i].plain = false;
        f.strings[i].len = 0;
    }
    ki_buf_clear(key);
    ki_buf_clear(resource_version);
    if (bytes.len == 0) {
        return 0;
    }
    if (encoding == KI_ENCODING_JSON) {
        peek_json(bytes, &f);
    } else {
        peek_proto(bytes, &f);
    }
    ki_str name;
    ki_str name_space;
    ki_str version;
    int r = 0;
    if (f.metadata_times == 1 && is_known(&f, WANTED_NAME, &name) &&
        is_known(&f, WANTED_NAMESPACE, &name_space)) {
        r = ki_key_join(name_space, name, key);
    }
    if (r != -ENOMEM && f.metadata_times == 1 && is_known(&f, WANTED_RESOURCE_VERSION, &version)) {
        r = ki_buf_add_str(resource_version, version);
    }
    return r == -ENOMEM ? r : 0;
}
