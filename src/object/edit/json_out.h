/* SPDX-License-Identifier: Apache-2.0 */
/* Text and JSON appended to a buffer, checked once at the end: the first failure is kept, and
 * nothing is appended after it. The buffer then has an incomplete text, unless ki__out_commit()
 * drops it.
 *
 * ki__out_*() append text as it is. ki__put_*() append JSON values and member names, preceded by a
 * comma where JSON requires one: after a complete value, which the last byte of the buffer shows.
 * The two mix: a fixed part of a document can be text that opens or closes maps and lists.
 *
 * Maps and lists opened with ki__put_map() and ki__put_list() are checked: a name in a list, a
 * value without a name in a map, an end without a beginning are KI_ERR_INVALID; nesting deeper than
 * KI__OUT_DEPTH_MAX is KI_ERR_DEPTH. A document (ki__out_document()) must be one value, built with
 * ki__put_*() alone: a second value or a name at its top is KI_ERR_INVALID. Nothing is allocated
 * but the buffer's memory. */
#ifndef KI_OBJECT_EDIT_JSON_OUT_H
#define KI_OBJECT_EDIT_JSON_OUT_H

#include <stdarg.h>

#include <kinformer/buf.h>
#include <kinformer/str.h>
#include <kinformer/value.h>

#include "base/shared.h"

enum { KI__OUT_DEPTH_MAX = 128 }; /* what readers of objects accept by default */

typedef struct ki__out {
    ki_buf *buf;
    size_t start;     /* where this text begins in the buffer */
    int error;        /* the first failure, or 0 */
    uint32_t depth;   /* maps and lists that ki__put_map() and ki__put_list() opened */
    bool is_document; /* one value and nothing else */
    uint64_t maps[KI__OUT_DEPTH_MAX / 64]; /* one bit per depth: a map, not a list */
} ki__out;

/** Begins a text after the content of `buf`, which must outlive it. Nothing must be released. */
static inline ki__out ki__out_to(ki_buf *buf)
{
    return (ki__out){.buf = buf, .start = buf->len};
}

/** Begins a document: one value. */
static inline ki__out ki__out_document(ki_buf *buf)
{
    return (ki__out){.buf = buf, .start = buf->len, .is_document = true};
}

/** Records a failure of something else, so that it ends the text; others are ignored. */
static inline void ki__out_fail(ki__out *out, int r)
{
    if (out->error == 0 && r < 0) {
        out->error = r;
    }
}

/** Drops what was appended to a buffer after `len`. */
static inline void ki__buf_truncate(ki_buf *buf, size_t len)
{
    if (buf->data != NULL) {
        buf->len = len;
        buf->data[len] = '\0';
    }
}

/** All or nothing: 0, or the failure, with the buffer as ki__out_to() found it. */
static inline int ki__out_commit(ki__out *out)
{
    if (out->error < 0) {
        ki__buf_truncate(out->buf, out->start);
    }
    return out->error;
}

/* ---- text as it is ---- */

KI__SHARED void ki__out_char(ki__out *out, char c);
KI__SHARED void ki__out_text(ki__out *out, const char *text);
KI__SHARED void ki__out_str(ki__out *out, ki_str text);

/** C strings one after the other, up to NULL. */
KI__SHARED void ki__out_texts(ki__out *out, ...);
KI__SHARED void ki__out_vtexts(ki__out *out, va_list texts);

/** A number in decimal. */
KI__SHARED void ki__out_u64(ki__out *out, uint64_t number);
KI__SHARED void ki__out_i64(ki__out *out, int64_t number);

/** "[3]", as paths of fields have it. */
KI__SHARED void ki__out_index(ki__out *out, uint64_t index);

/** Seconds since 1970 as RFC 3339 in UTC, without quotes. Years 0 to 9999; others are clamped. */
void ki__out_time(ki__out *out, int64_t seconds);

/** Base64 with padding. */
KI__SHARED void ki__out_base64(ki__out *out, ki_str bytes);

/** A string as Go's %q formats it, for messages that real servers format so. */
KI__SHARED void ki__out_quoted(ki__out *out, ki_str text);

/** The content of a string value. KI_ERR_TYPE if it is not a string. */
KI__SHARED void ki__out_content(ki__out *out, const ki_value *value);

/** Text as the content of a JSON string, with escapes and without quotes. What is not UTF-8 becomes
 *  U+FFFD, byte by byte. */
void ki__out_escaped(ki__out *out, ki_str text);

/** A number in as few digits as read back to the same double. KI_ERR_RANGE if it is not finite. */
void ki__out_double(ki__out *out, double number);

/* ---- JSON ---- */

/** Whether container number `level`, from 1 to the depth, is a map. */
static inline bool ki__out_is_map(const ki__out *out, uint32_t level)
{
    return (out->maps[(level - 1) / 64] >> (level - 1) % 64 & 1) != 0;
}

/** Whether a name was appended and its value was not. */
bool ki__out_is_named(const ki__out *out);

/** Whether the document is complete: one value, with all maps and lists closed. */
bool ki__out_is_complete(const ki__out *out);

/** The comma before a value or a name that is appended as text, if one is required. */
KI__SHARED void ki__put_comma(ki__out *out);

/** Opens a map or a list; ki__put_end() closes the innermost one. */
KI__SHARED void ki__put_map(ki__out *out);
KI__SHARED void ki__put_list(ki__out *out);
KI__SHARED void ki__put_end(ki__out *out);

/** The name of the member that comes next. Plain ASCII without quotes: not input. */
KI__SHARED void ki__put_name(ki__out *out, const char *name);

/** The same for any name, and for one of an object. */
KI__SHARED void ki__put_name_str(ki__out *out, ki_str name);
void ki__put_name_value(ki__out *out, const ki_value *name);

/** A name or a string in parts: these, then ki__out_*(), which have to write valid content of a
 *  JSON string, then the end. */
void ki__put_begin_name(ki__out *out);
void ki__put_end_name(ki__out *out);
void ki__put_begin_string(ki__out *out);
void ki__put_end_string(ki__out *out);

/** A string. What is not UTF-8 becomes U+FFFD, byte by byte. */
KI__SHARED void ki__put_string(ki__out *out, ki_str text);
KI__SHARED void ki__put_u64(ki__out *out, uint64_t number);
KI__SHARED void ki__put_i64(ki__out *out, int64_t number);

/** KI_ERR_RANGE if it is not finite. */
void ki__put_double(ki__out *out, double number);

void ki__put_bool(ki__out *out, bool flag);
void ki__put_null(ki__out *out);

/** A string with a time, as ki__out_time() formats it. */
KI__SHARED void ki__put_time(ki__out *out, int64_t seconds);

/** A value of an object, of either encoding. */
KI__SHARED void ki__put_value(ki__out *out, const ki_value *value);

/** A value that is JSON already, or several with commas between them; nothing if it is empty. */
KI__SHARED void ki__put_json(ki__out *out, ki_str json);

/** A member whose value is a string. */
KI__SHARED void ki__put_member(ki__out *out, const char *name, const char *text);
KI__SHARED void ki__put_member_str(ki__out *out, const char *name, ki_str text);

#endif
