/* SPDX-License-Identifier: Apache-2.0 */
/* Appends text and JSON to a buffer, with one error check at the end: the first error is kept, and
 * nothing is appended after it. The buffer then has incomplete text, unless ki__out_commit() drops
 * it.
 *
 * ki__out_*() append raw text. ki__put_*() append JSON values and member names, preceded by a comma
 * where required: after a complete value, which the last byte of the buffer shows. The two can be
 * mixed: a fixed part of a document can be raw text that opens or closes maps and lists.
 *
 * Maps and lists opened with ki__put_map() and ki__put_list() are checked: a name in a list, a
 * value without a name in a map, and an unmatched end are KI_ERR_INVALID; nesting deeper than
 * KI__OUT_DEPTH_MAX is KI_ERR_DEPTH. A document (ki__out_document()) must be one value, built with
 * ki__put_*() alone: a second value or a name at the top level is KI_ERR_INVALID. Only the buffer's
 * memory is allocated. */
#ifndef KI_OBJECT_EDIT_JSON_OUT_H
#define KI_OBJECT_EDIT_JSON_OUT_H

#include <stdarg.h>

#include <kinformer/buf.h>
#include <kinformer/str.h>
#include <kinformer/value.h>

#include "base/shared.h"

enum { KI__OUT_DEPTH_MAX = 128 }; /* the default limit when objects are parsed */

typedef struct ki__out {
    ki_buf *buf;
    size_t start;     /* start of this text in the buffer */
    int error;        /* first error, or 0 */
    uint32_t depth;   /* open maps and lists of ki__put_map() and ki__put_list() */
    bool is_document; /* one value and nothing else */
    uint64_t maps[KI__OUT_DEPTH_MAX / 64]; /* one bit per depth: map, not list */
} ki__out;

/** Starts a text after the contents of `buf`, which must outlive it. Needs no release. */
static inline ki__out ki__out_to(ki_buf *buf)
{
    return (ki__out){.buf = buf, .start = buf->len};
}

/** Starts a document: one value. */
static inline ki__out ki__out_document(ki_buf *buf)
{
    return (ki__out){.buf = buf, .start = buf->len, .is_document = true};
}

/** Records an error from elsewhere, which ends the text; nonnegative codes are ignored. */
static inline void ki__out_fail(ki__out *out, int r)
{
    if (out->error == 0 && r < 0) {
        out->error = r;
    }
}

/** Truncates a buffer to `len` bytes. */
static inline void ki__buf_truncate(ki_buf *buf, size_t len)
{
    if (buf->data != NULL) {
        buf->len = len;
        buf->data[len] = '\0';
    }
}

/** All or nothing: returns 0, or the error with the buffer restored. */
static inline int ki__out_commit(ki__out *out)
{
    if (out->error < 0) {
        ki__buf_truncate(out->buf, out->start);
    }
    return out->error;
}

/* ---- raw text ---- */

KI__SHARED void ki__out_char(ki__out *out, char c);
KI__SHARED void ki__out_text(ki__out *out, const char *text);
KI__SHARED void ki__out_str(ki__out *out, ki_str text);

/** C strings, terminated by NULL. */
KI__SHARED void ki__out_texts(ki__out *out, ...);
KI__SHARED void ki__out_vtexts(ki__out *out, va_list texts);

/** A decimal number. */
KI__SHARED void ki__out_u64(ki__out *out, uint64_t number);
KI__SHARED void ki__out_i64(ki__out *out, int64_t number);

/** "[3]", as in field paths. */
KI__SHARED void ki__out_index(ki__out *out, uint64_t index);

/** Seconds since 1970 as RFC 3339 in UTC, without quotes. Clamped to the years 0 to 9999. */
void ki__out_time(ki__out *out, int64_t seconds);

/** Base64 with padding. */
KI__SHARED void ki__out_base64(ki__out *out, ki_str bytes);

/** A string quoted like Go's %q, for messages that real servers format that way. */
KI__SHARED void ki__out_quoted(ki__out *out, ki_str text);

/** The decoded content of a string value. KI_ERR_TYPE if it is not a string. */
KI__SHARED void ki__out_content(ki__out *out, const ki_value *value);

/** Text as the content of a JSON string: escaped, without quotes. Each byte of invalid UTF-8
 *  becomes U+FFFD. */
void ki__out_escaped(ki__out *out, ki_str text);

/** The shortest text that parses as the same double. KI_ERR_RANGE if not finite. */
void ki__out_double(ki__out *out, double number);

/* ---- JSON ---- */

/** Whether the container at `level`, from 1 to the depth, is a map. */
static inline bool ki__out_is_map(const ki__out *out, uint32_t level)
{
    return (out->maps[(level - 1) / 64] >> (level - 1) % 64 & 1) != 0;
}

/** Whether the last item is a name without a value. */
bool ki__out_is_named(const ki__out *out);

/** Whether the document is complete: one value, all maps and lists closed. */
bool ki__out_is_complete(const ki__out *out);

/** Appends a comma, if required, before a value or name that is appended as raw text. */
KI__SHARED void ki__put_comma(ki__out *out);

/** Opens a map or a list; ki__put_end() closes the innermost one. */
KI__SHARED void ki__put_map(ki__out *out);
KI__SHARED void ki__put_list(ki__out *out);
KI__SHARED void ki__put_end(ki__out *out);

/** The name of the next member. Plain ASCII without quotes, so not for input. */
KI__SHARED void ki__put_name(ki__out *out, const char *name);

/** Likewise for any name, and for a name from an object. */
KI__SHARED void ki__put_name_str(ki__out *out, ki_str name);
void ki__put_name_value(ki__out *out, const ki_value *name);

/** A name or a string in parts: begin, then ki__out_*(), which must write valid content of a JSON
 *  string, then end. */
void ki__put_begin_name(ki__out *out);
void ki__put_end_name(ki__out *out);
void ki__put_begin_string(ki__out *out);
void ki__put_end_string(ki__out *out);

/** A string. Each byte of invalid UTF-8 becomes U+FFFD. */
KI__SHARED void ki__put_string(ki__out *out, ki_str text);
KI__SHARED void ki__put_u64(ki__out *out, uint64_t number);
KI__SHARED void ki__put_i64(ki__out *out, int64_t number);

/** KI_ERR_RANGE if not finite. */
void ki__put_double(ki__out *out, double number);

KI__SHARED void ki__put_bool(ki__out *out, bool flag);
KI__SHARED void ki__put_null(ki__out *out);

/** A time as a string, formatted by ki__out_time(). */
KI__SHARED void ki__put_time(ki__out *out, int64_t seconds);

/** A value of an object, of either encoding. */
KI__SHARED void ki__put_value(ki__out *out, const ki_value *value);

/** JSON text of a value, or of several separated by commas; no effect if empty. */
KI__SHARED void ki__put_json(ki__out *out, ki_str json);

/** A member with a string value. */
KI__SHARED void ki__put_member(ki__out *out, const char *name, const char *text);
KI__SHARED void ki__put_member_str(ki__out *out, const char *name, ki_str text);

#endif
