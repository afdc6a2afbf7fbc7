/* SPDX-License-Identifier: Apache-2.0 */
/* The types and fields of custom resources, read from CustomResourceDefinitions, which are
 * untrusted, and written as a header of typed views.
 *
 * Nothing here recurses on input; types wait in the array that they end up in. The number of types
 * and fields, the depth and the length of names have limits. */
#ifndef KI_CLI_GENVIEWS_VIEW_MODEL_H
#define KI_CLI_GENVIEWS_VIEW_MODEL_H

#include <kinformer/buf.h>
#include <kinformer/error.h>
#include <kinformer/object.h>

#include "cli/genviews/view_names.h"

enum {
    CLI_VIEW_FIELDS_MAX = 50000, /* of all types */
    CLI_VIEW_DEPTH_MAX = 64,     /* objects inside objects */
    CLI_VIEW_NAME_MAX = 255,     /* bytes of a name */
    CLI_VIEW_TYPE_NAME_MAX = 1000,
    CLI_VIEW_KINDS_MAX = 1000,
    CLI_VIEW_WRAPS_MAX = 2,        /* lists and maps inside lists and maps */
    CLI_VIEW_VALUES_MAX = 1000,    /* constants of a field */
    CLI_VIEW_TEXT_MAX = 1000,      /* bytes of a default; longer ones are left out */
    CLI_VIEW_OUTPUT_MAX = 64 << 20 /* bytes of a header */
};

/** How a value is read. */
typedef enum cli_view_read {
    CLI_VIEW_TEXT,
    CLI_VIEW_BOOL,
    CLI_VIEW_INT32,
    CLI_VIEW_INT64,
    CLI_VIEW_DOUBLE,
    CLI_VIEW_BYTES,
    CLI_VIEW_TIME,
    CLI_VIEW_QUANTITY,
    CLI_VIEW_INT_OR_STRING,
    CLI_VIEW_VALUE, /* any JSON */
    CLI_VIEW_OBJECT,
    CLI_VIEW_METADATA,
    CLI_VIEW_MAX
} cli_view_read;

/** What a schema says about a value: lists and maps, from the outside, and what is in them. */
typedef struct cli_view_shape {
    char wraps[CLI_VIEW_WRAPS_MAX]; /* 'l' or 'm' */
    size_t wrap_count;
    cli_view_read read;
    ki_value schema; /* of what is in them */
} cli_view_shape;

typedef struct cli_view_field {
    ki_str name;    /* in JSON */
    const char *id; /* in C */
    cli_view_shape shape;
    size_t type;           /* of CLI_VIEW_OBJECT */
    const char *otherwise; /* the default, as C; NULL: none */
    const char *key;       /* name of the field that identifies elements of the list; NULL: none */
} cli_view_field;

typedef struct cli_view_type {
    const char *group_version; /* "example_com_v1" */
    const char *name;          /* "WebsiteSpec" */
    const char *api_version;   /* of kinds; NULL: not a kind */
    const char *kind;
    const char *source; /* for messages: file and name of the definition */
    ki_value schema;
    size_t outer;       /* type and field that it belongs to, unless it is a kind */
    size_t outer_field; /* in all fields */
    size_t depth;
    size_t first_field;
    size_t field_count;
} cli_view_type;

typedef struct cli_view_model {
    const char *prefix; /* instead of groups; NULL: none */
    ki_object **definitions;
    size_t definition_count;
    cli_view_type *types; /* kinds first */
    size_t type_count;
    size_t type_capacity;
    cli_view_field *fields;
    size_t field_count;
    size_t field_capacity;
    cli_names type_names;
    cli_arena arena;
} cli_view_model;

/** `prefix` is borrowed. Release with cli_view_model_done(). */
void cli_view_model_init(cli_view_model *model, const char *prefix);
void cli_view_model_done(cli_view_model *model);

/** Adds the kind of each served version of a CustomResourceDefinition. `from` names the file in
 *  messages.
 *  Errors: KI_ERR_INVALID, KI_ERR_UNSUPPORTED, KI_ERR_LIMIT, with a message for the user. */
KI_NODISCARD int cli_view_model_add(cli_view_model *model, const ki_object *definition,
                                    const char *from, ki_error *error);

/** Adds all types and fields of the kinds. The result does not depend on the order in which they
 *  were added. Errors: as cli_view_model_add(). */
KI_NODISCARD int cli_view_model_build(cli_view_model *model, ki_error *error);

/** Appends the header. `guard` is the macro that protects it from being included twice; NULL: made
 *  from the first kind.
 *  Errors: KI_ERR_LIMIT  it is too long. */
KI_NODISCARD int cli_view_model_write(cli_view_model *model, const char *guard, ki_buf *out,
                                      ki_error *error);

/* ---- view_schema.c ---- */

/** A member of a map; KI_TYPE_NONE if there is none. */
ki_value cli_view_member(const ki_value *map, const char *name);

/** Finds out how a value is read. Returns NULL, or why there is no way to express it. */
const char *cli_view_shape_of(const ki_value *schema, cli_view_shape *ret_shape);

/** The default of a value without lists and maps, as C; NULL: none, or one that absent values have
 *  anyway. *ret_why is set if it cannot be expressed. */
const char *cli_view_default(const cli_view_shape *shape, cli_arena *arena, const char **ret_why);

/** The name of the field that identifies the elements of a list of objects; NULL: none. */
const char *cli_view_key(const ki_value *schema, const cli_view_shape *shape, cli_arena *arena);

/** Appends a string of C. */
void cli_view_put_literal(ki_buf *out, ki_str text);

#endif
