/* SPDX-License-Identifier: Apache-2.0 */
/* Label selectors and their builder. A selector is one block: the requirements sorted by key, their
 * values, and the bytes of both; or one of two static ones that are never freed.
 *
 * ki__selector_build() makes two passes over the same source with the same calls: the first only
 * counts, the second fills a block of exactly that size. */
#ifndef KI_OBJECT_SELECTOR_SELECTOR_H
#define KI_OBJECT_SELECTOR_SELECTOR_H

#include <kinformer/selector.h>

#include "base/refs.h"

enum { KI__SELECTOR_TEXT_MAX = 65536 };

typedef enum ki__operator {
    KI__OP_EXISTS,
    KI__OP_NOT_EXISTS,
    KI__OP_EQUALS,        /* = */
    KI__OP_DOUBLE_EQUALS, /* ==, differs only in print */
    KI__OP_NOT_EQUALS,
    KI__OP_IN,
    KI__OP_NOT_IN,
    KI__OP_GREATER,
    KI__OP_LESS,
    KI__OP_MAX
} ki__operator;

typedef struct ki__requirement {
    ki_str key;
    const ki_str *values; /* sorted */
    uint32_t value_count; /* not 0, except for (not) exists */
    uint32_t index;       /* in the source: requirements of the same key keep that order */
    int64_t number;       /* the value, for greater and less */
    ki__operator op;
    bool label; /* added by ki__selector_builder_add_label() */
} ki__requirement;

struct ki_selector {
    const ki_alloc *alloc; /* NULL: static */
    ki__refs refs;         /* unused if static */
    bool nothing;          /* matches nothing; no requirements */
    uint32_t count;
    ki__requirement requirements[];
};

/** Whether a selector reads labels that were not kept of an object, if it is partial. */
bool ki__selector_reads_unkept(const ki_selector *selector, const ki_object *object);

typedef struct ki__selector_builder {
    ki_selector *selector; /* NULL in the first pass */
    size_t requirements;   /* count so far */
    size_t values;         /* count so far */
    size_t bytes;          /* of keys and values so far */
    size_t printed;        /* length of the text printed by ki_selector_print() */
    bool more_values;      /* the last requirement already has a value */
    ki_str *value_room;    /* second pass: next free value */
    char *byte_room;       /* second pass: next free byte */
    size_t values_max;     /* second pass: counts of the first */
    size_t bytes_max;
} ki__selector_builder;

/** Begins a requirement. The key must be valid.
 *  Errors: KI_ERR_LIMIT  the text of the selector would be too long to parse. */
int ki__selector_builder_add(ki__selector_builder *builder, ki_str key, ki__operator op);

/** Like ki__selector_builder_add(), for an entry of a label map, which requires equality. Of
 *  duplicate keys only the first is kept. */
int ki__selector_builder_add_label(ki__selector_builder *builder, ki_str key);

/** Adds a valid value to the last requirement. Errors: KI_ERR_LIMIT. */
int ki__selector_builder_add_value(ki__selector_builder *builder, ki_str value);

/** Sorts the values of the last requirement; `distinct` removes duplicates. */
void ki__selector_builder_end(ki__selector_builder *builder, bool distinct);

/** Parses requirements from a source into the builder. Called twice with the same source. */
typedef int (*ki__selector_fill)(const void *source, ki__selector_builder *builder,
                                 ki_error *error);

/** Builds the selector of all requirements that `fill` finds in `source`. */
int ki__selector_build(ki__selector_fill fill, const void *source, const ki_alloc *alloc,
                       ki_selector **ret_selector, ki_error *error);

/** The static selector that matches nothing, as a return value of constructors. */
ki_selector *ki__selector_nothing(void);

/** Parses an integer like Go's strconv.ParseInt in base 10: an optional sign, then only digits,
 *  within int64. */
bool ki__selector_read_int64(ki_str text, int64_t *ret_number);

/** Copies `text` to `out` for an error message: truncated, non-printable characters replaced. */
enum { KI__SHOWN_SIZE = 48 };
const char *ki__selector_show(ki_str text, char out[KI__SHOWN_SIZE]);

/** The public function of this name, for text of a known length. */
int ki__selector_parse(ki_str text, const ki_alloc *alloc, ki_selector **ret_selector,
                       ki_error *error);

#endif
