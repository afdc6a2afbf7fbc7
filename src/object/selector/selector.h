/* SPDX-License-Identifier: Apache-2.0 */
/* What a label selector is, and how one is built. A selector is one block: the requirements sorted
 * by key, their values, and the bytes of both; or one of two static ones that are never freed.
 *
 * ki__selector_build() makes two passes over the same source with the same calls: the first only
 * counts, the second fills the block of exactly that size. */
#ifndef KI_OBJECT_SELECTOR_SELECTOR_H
#define KI_OBJECT_SELECTOR_SELECTOR_H

#include <kinformer/selector.h>

#include "base/refs.h"

enum { KI__SELECTOR_TEXT_MAX = 65536 };

typedef enum ki__operator {
    KI__OP_EXISTS,
    KI__OP_NOT_EXISTS,
    KI__OP_EQUALS,        /* = */
    KI__OP_DOUBLE_EQUALS, /* ==, the same but for how it is printed */
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
    uint32_t value_count; /* not 0, except for the two that ask for existence */
    uint32_t index;       /* in the source: requirements of one key keep that order */
    int64_t number;       /* the value, for greater and less */
    ki__operator op;
    bool label; /* made by ki__selector_builder_add_label() */
} ki__requirement;

struct ki_selector {
    const ki_alloc *alloc; /* NULL: static */
    ki__refs refs;         /* not used if static */
    bool nothing;          /* matches nothing, and has no requirements */
    uint32_t count;
    ki__requirement requirements[];
};

typedef struct ki__selector_builder {
    ki_selector *selector; /* NULL in the first pass */
    size_t requirements;   /* how many so far */
    size_t values;         /* how many so far */
    size_t bytes;          /* how many so far, of keys and values */
    size_t printed;        /* bytes of the text as ki_selector_print() gives it */
    bool more_values;      /* the last requirement has a value already */
    ki_str *value_room;    /* second pass: where values go */
    char *byte_room;       /* second pass: where bytes go */
    size_t values_max;     /* second pass: what the first one counted */
    size_t bytes_max;
} ki__selector_builder;

/** Begins a requirement. The key was checked before.
 *  Errors: KI_ERR_LIMIT  the text of the selector would be too long to be parsed again. */
int ki__selector_builder_add(ki__selector_builder *builder, ki_str key, ki__operator op);

/** The same for a member of a map of labels, which asks for equality. Of several with one key only
 *  the first is kept. */
int ki__selector_builder_add_label(ki__selector_builder *builder, ki_str key);

/** Adds a value to the last requirement; checked before. Errors: KI_ERR_LIMIT. */
int ki__selector_builder_add_value(ki__selector_builder *builder, ki_str value);

/** Sorts the values of the last requirement; `distinct` keeps one of several that are equal. */
void ki__selector_builder_end(ki__selector_builder *builder, bool distinct);

/** Reads requirements from a source into the builder. Called twice with the same source. */
typedef int (*ki__selector_fill)(const void *source, ki__selector_builder *builder,
                                 ki_error *error);

/** Makes the selector of all that `fill` finds in `source`. */
int ki__selector_build(ki__selector_fill fill, const void *source, const ki_alloc *alloc,
                       ki_selector **ret_selector, ki_error *error);

/** The static selector that matches nothing, as the functions that make selectors hand it out. */
ki_selector *ki__selector_nothing(void);

/** An integer as Go's strconv.ParseInt reads it in base 10: a sign or none, then digits and nothing
 *  else, within int64. */
bool ki__selector_read_int64(ki_str text, int64_t *ret_number);

/** Copies `text` to `out` for an error message: cut to fit, and what is not printable replaced. */
enum { KI__SHOWN_SIZE = 48 };
const char *ki__selector_show(ki_str text, char out[KI__SHOWN_SIZE]);

/** The public function of this name, for text of a known length. */
int ki__selector_parse(ki_str text, const ki_alloc *alloc, ki_selector **ret_selector,
                       ki_error *error);

#endif
