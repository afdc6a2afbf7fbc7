/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a JSON object. What is accepted must be readable through every function, and must be
 * the same again after being written and read. The incremental scanner must see the same in one
 * piece and in many. */
#include <kinformer/buf.h>
#include <kinformer/encoding.h>
#include <kinformer/object.h>

#include "object/json/json_scan.h"
#include "object/json/json_stream.h"

static void must(bool condition)
{
    if (!condition) {
        __builtin_trap();
    }
}

/* Reads it every way there is and leaves its text in `text`. */
static void read_scalar(const ki_value *value, ki_buf *text)
{
    ki_str view;
    int64_t integer;
    double real;
    bool flag;
    ki_buf_clear(text);
    ki_type type = ki_value_type(value);
    if (type == KI_TYPE_STRING) {
        must(ki_value_copy_string(value, text) == 0);
        must(ki_value_equals(value, ki_buf_str(text)));
        if (ki_value_string(value, &view) == 0) {
            must(ki_str_eq(view, ki_buf_str(text)));
        }
    } else if (type == KI_TYPE_NUMBER) {
        must(ki_value_number_text(value, &view) == 0 && view.len != 0);
        must(ki_buf_add_str(text, view) == 0);
        if (ki_value_int64(value, &integer) == 0) {
            must(ki_value_double(value, &real) == 0 && (double)integer == real);
        }
    } else if (type == KI_TYPE_BOOL) {
        must(ki_value_bool(value, &flag) == 0);
        must(ki_buf_add_char(text, flag ? 't' : 'f') == 0);
    } else {
        must(type == KI_TYPE_NULL);
    }
}

static uint64_t add_to_hash(uint64_t hash, ki_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        hash = (hash ^ (unsigned char)text.ptr[i]) * UINT64_C(0x100000001b3);
    }
    return hash * UINT64_C(0x9e3779b97f4a7c15) + 1;
}

/* Walks everything; the result is a hash of all that was read, in its order. */
static uint64_t walk(ki_value root, ki_buf *text)
{
    static ki_value_iter stack[1024];
    size_t depth = 0;
    uint64_t hash = 1;
    must(ki_value_iter_begin(&root, &stack[depth++]) == 0);
    while (depth != 0) {
        ki_value key;
        ki_value value;
        if (ki_value_iter_next(&stack[depth - 1], &key, &value) == 0) {
            depth--;
            hash = add_to_hash(hash, ki_str_from("end"));
            continue;
        }
        if (key.ops != NULL) {
            read_scalar(&key, text);
            hash = add_to_hash(hash, ki_buf_str(text));
            ki_value found;
            must(ki_value_member(&stack[depth - 1].container, ki_buf_str(text), &found) == 0);
        }
        if (ki_value_iter_begin(&value, &stack[depth]) == 0) {
            depth++;
        } else {
            read_scalar(&value, text);
            hash = add_to_hash(hash, ki_buf_str(text));
        }
    }
    return hash;
}

/* The map that a path of members leads to. */
static bool find_labels(const ki_object *object, ki_value *ret_labels)
{
    ki_value root = ki_object_root(object);
    ki_value metadata;
    return ki_value_member(&root, ki_str_from("metadata"), &metadata) == 0 &&
           ki_value_member(&metadata, ki_str_from("labels"), ret_labels) == 0;
}

/* Labels have a short way of their own: it must lead where the long one does. */
static void read_labels(const ki_object *object, ki_buf *text)
{
    ki_value labels = ki_object_labels(object);
    ki_value same;
    ki_value_iter iter;
    if (ki_value_iter_begin(&labels, &iter) < 0 || !find_labels(object, &same)) {
        return;
    }
    ki_value key;
    ki_value value;
    while (ki_value_iter_next(&iter, &key, &value) > 0) {
        ki_buf_clear(text);
        must(ki_value_copy_string(&key, text) == 0);
        ki_value shortly;
        ki_value slowly;
        must(ki_value_member(&labels, ki_buf_str(text), &shortly) == 0);
        must(ki_value_member(&same, ki_buf_str(text), &slowly) == 0);
        must(shortly.bytes == slowly.bytes);
        must(ki_buf_add_char(text, 'x') == 0);
        int r = ki_value_member(&labels, ki_buf_str(text), &shortly);
        must(ki_value_member(&same, ki_buf_str(text), &slowly) == r);
        must(r < 0 || shortly.bytes == slowly.bytes);
    }
}

static void read_accessors(const ki_object *object)
{
    must(strlen(ki_object_key(object)) >= strlen(ki_object_name(object)));
    (void)ki_object_generation(object);
    (void)ki_object_creation_time(object);
    (void)ki_object_deletion_time(object);
    ki_owner owner = {0};
    (void)!ki_object_controller(object, &owner);
    (void)ki_object_label(object, "app");
}

/* ---- the incremental scanner ---- */

/* What the scanner reported, as one number, and how it ended. */
typedef struct summary {
    uint64_t hash;
    uint64_t values; /* at the top */
    int code;
    size_t error_offset;
} summary;

static void note(summary *sum, const ki__json_event *event)
{
    const uint64_t parts[] = {event->type, (unsigned char)event->first, event->depth, event->start,
                              event->end};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        sum->hash = (sum->hash ^ parts[i]) * UINT64_C(0x9e3779b97f4a7c15);
        sum->hash ^= sum->hash >> 29;
    }
    sum->values += event->depth == 0 && event->type == KI__JSON_VALUE;
}

/* The bytes of the input themselves say how it is cut; `cut` 0 does not cut. */
static size_t piece(const uint8_t *bytes, size_t at, size_t len, unsigned cut)
{
    size_t size = cut == 0 ? len - at : (size_t)(bytes[at] * cut + bytes[len - 1]) % 80;
    return size < len - at ? size : len - at;
}

static summary stream(const uint8_t *bytes, size_t len, uint32_t enter, uint64_t max, unsigned cut)
{
    ki__json_stream s;
    ki__json_event event;
    ki_error error = KI_ERROR_INIT;
    summary sum = {0};
    ki__json_stream_init(&s, max, 40);
    ki__json_stream_enter(&s, enter);
    for (size_t at = 0; at < len && sum.code == 0;) {
        size_t count = piece(bytes, at, len, cut);
        count += count == 0; /* so that it ends */
        for (size_t done = 0; done < count && sum.code == 0;) {
            size_t taken;
            int r = ki__json_stream_feed(&s, (const char *)bytes + at + done, count - done, &taken,
                                         &event, &error);
            done += taken;
            must(done <= count && (r != 0 || done == count));
            if (r == 1) {
                note(&sum, &event);
            } else if (r < 0) {
                sum.code = r;
            }
        }
        at += count;
    }
    if (sum.code == 0) {
        int r = ki__json_stream_finish(&s, &event, &error);
        if (r == 1) {
            note(&sum, &event);
        }
        sum.code = r < 0 ? r : 0;
    }
    sum.error_offset = error.offset;
    return sum;
}

static void check_stream(const uint8_t *bytes, size_t len)
{
    bool valid = ki__json_check(ki_str_make((const char *)bytes, len), 40, NULL) == 0;
    for (uint32_t enter = 0; enter <= 3; enter++) {
        uint64_t max = enter == 2 ? 20 : SIZE_MAX;
        summary whole = stream(bytes, len, enter, max, 0);
        must(!valid || enter == 2 || whole.code == 0);
        must(!valid || enter != 0 || whole.values == 1);
        for (unsigned cut = 1; cut <= 3; cut++) {
            summary cuts = stream(bytes, len, enter, max, cut);
            must(whole.hash == cuts.hash && whole.code == cuts.code);
            must(whole.error_offset == cuts.error_offset);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    ki_object *object;
    ki_error error = KI_ERROR_INIT;
    check_stream(bytes, len);
    int r = ki_object_from_json((const char *)bytes, len, NULL, &object, &error);
    if (r < 0) {
        must(error.code == r && error.message[0] != '\0' && error.offset <= len);
        return 0;
    }
    ki_buf text;
    ki_buf written;
    ki_buf_init(&text, NULL, SIZE_MAX);
    ki_buf_init(&written, NULL, SIZE_MAX);
    read_accessors(object);
    read_labels(object, &text);
    uint64_t hash = walk(ki_object_root(object), &text);
    must(ki_object_write_json(object, &written) == 0);
    ki_object *again;
    must(ki_object_from_json(written.data, written.len, NULL, &again, NULL) == 0);
    must(walk(ki_object_root(again), &text) == hash);
    must(strcmp(ki_object_key(object), ki_object_key(again)) == 0);
    must(ki_object_creation_time(object) == ki_object_creation_time(again));
    ki_object_unref(again);
    ki_object_unref(object);
    ki_buf_done(&text);
    ki_buf_done(&written);
    return 0;
}
