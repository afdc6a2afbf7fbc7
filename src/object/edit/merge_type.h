/* SPDX-License-Identifier: Apache-2.0 */
/* How values are merged when an object is applied: member by member or as a whole, and lists by
 * keys, as sets or as a whole. For built-in kinds this is in tables (merge_tables.c, which
 * tools/gen-schema writes from the markers in the published Go types), for custom ones in the
 * schema of their definition. By default, maps are merged and lists are replaced as a whole. */
#ifndef KI_OBJECT_EDIT_MERGE_TYPE_H
#define KI_OBJECT_EDIT_MERGE_TYPE_H

#include <kinformer/buf.h>
#include <kinformer/value.h>

#include "base/shared.h"
#include "object/proto/schema.h"

enum { KI__MERGE_KEYS_MAX = 5 };

typedef enum ki__merge_how {
    KI__MERGE_USUAL,  /* a map by its members, a list as a whole */
    KI__MERGE_ATOMIC, /* as a whole */
    KI__MERGE_SET,    /* a list of plain values, each of which is there once */
    KI__MERGE_KEYS,   /* a list of maps that are identified by some of their members */
} ki__merge_how;

/** How one field of a built-in kind is merged, if not as usual. */
typedef struct ki__merge_rule {
    uint16_t field; /* index in ki__schema_fields */
    uint8_t how;    /* ki__merge_how */
    uint8_t whole;  /* each element, or each value of a map, is merged as a whole */
    uint8_t key_count;
    uint16_t keys[KI__MERGE_KEYS_MAX + 1]; /* offsets in ki__schema_names */
} ki__merge_rule;

extern const ki__merge_rule ki__merge_rules[]; /* by field */
extern const size_t ki__merge_rule_count;

/** What is known of a value at its place. Zeroed: nothing. */
typedef struct ki__merge_type {
    const ki__schema_message *message; /* what it is, or what each is that is in it; NULL: none */
    bool many;                         /* it is a list or a map of these */
    bool is_root;                      /* it is the object: it has metadata, whatever it is */
    bool named;                        /* the place is a field that the kind has */
    bool whole;                        /* it is merged as a whole, whatever `rule` says */
    bool shown;                        /* Go shows it even if it is not set */
    const ki__merge_rule *rule;        /* NULL: as usual, or the schema tells */
    ki_value schema;                   /* of a custom kind; of KI_TYPE_NONE: none */
    uint32_t *steps;                   /* that are left, as those of a tree: looking into a schema
                                          costs one for each KI__MERGE_STEP_BYTES; NULL: nothing */
} ki__merge_type;

enum { KI__MERGE_STEP_BYTES = 32 };

/** The type of whole objects of a built-in kind. */
KI__SHARED ki__merge_type ki__merge_type_builtin(ki_str api_version, ki_str kind);
/** The same of a custom one, with its OpenAPI schema, which may be of KI_TYPE_NONE. It outlives the
 *  type. */
KI__SHARED ki__merge_type ki__merge_type_custom(ki_value schema);

/** What follows takes steps, if the type has some. Without any left it continues, with meaningless
 *  results. */

/** The type of a member of a map. */
ki__merge_type ki__merge_type_member(const ki__merge_type *map, ki_str name);
/** The type of the elements of a list. */
ki__merge_type ki__merge_type_element(const ki__merge_type *list);

ki__merge_how ki__merge_type_how(const ki__merge_type *type);

/** Whether a value of this type is merged as a whole: scalars are. */
bool ki__merge_type_is_whole(const ki__merge_type *type, ki_type value);

/** The names of the keys of a list of KI__MERGE_KEYS, in order; how many. */
size_t ki__merge_type_keys(const ki__merge_type *list, ki_str keys[KI__MERGE_KEYS_MAX]);

/** The value of a key that an element does not have: false if there is none. */
bool ki__merge_type_key_default(const ki__merge_type *list, ki_str key, ki_value *ret_value);

#endif
