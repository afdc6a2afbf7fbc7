/* SPDX-License-Identifier: Apache-2.0 */
/* Names of C for untrusted names of JSON, and sets of names that are in use. The rules are in
 * docs/cli.md. */
#ifndef KI_CLI_GENVIEWS_VIEW_NAMES_H
#define KI_CLI_GENVIEWS_VIEW_NAMES_H

#include <kinformer/defs.h>
#include <kinformer/str.h>

/** Memory that is freed all at once. Zeroed: empty. */
typedef struct cli_arena {
    struct cli_arena_block *last;
} cli_arena;

void *cli_arena_take(cli_arena *arena, size_t size);
char *cli_arena_copy(cli_arena *arena, ki_str text);
/** Concatenates three texts. */
char *cli_arena_join(cli_arena *arena, const char *a, const char *b, const char *c);
void cli_arena_done(cli_arena *arena);

/** A set of names, which are borrowed. Zeroed: empty. */
typedef struct cli_names {
    const char **slots;
    size_t count;
    size_t capacity;
} cli_names;

bool cli_names_has(const cli_names *names, const char *name);
void cli_names_add(cli_names *names, const char *name);
void cli_names_clear(cli_names *names);
void cli_names_done(cli_names *names);

enum { CLI_NAME_TRIES = 100 };

/** Returns the name, or the name with the first of the numbers 2 to 100 that makes it new: after
 *  `between`. Adds it to the set. NULL: all are in use. */
const char *cli_names_unique(cli_names *names, cli_arena *arena, const char *name,
                             const char *between);

/** Whether C++ does not allow a name as that of a method, or a class of views has it for itself:
 *  <kinformer/cpp/view_macros.inc> appends "_" to it. */
bool cli_name_is_cpp_word(const char *name);

/** Whether C does not allow a name as that of a member, or it is a macro of C. */
bool cli_name_is_c_word(const char *name);

/** Whether a name consists of letters, digits and "_" and begins with a letter. */
bool cli_name_is_plain(ki_str name);

/** The name of a field: differs from it where C or generated functions do not allow it. */
char *cli_name_field(cli_arena *arena, ki_str name);

/** Whether the name of a field is also the beginning of names that other fields get: "has_x". */
bool cli_name_is_derived(const char *id);

/** The name of a type: that of the type around it, and the name of the field with a capital
 *  letter. Letters and digits only. */
char *cli_name_type(cli_arena *arena, const char *outer, ki_str field);

/** The name of a group and version: "example_com_v1". */
char *cli_name_group_version(cli_arena *arena, const char *group, const char *version);

/** The end of the name of a constant for a value. */
char *cli_name_constant(cli_arena *arena, ki_str value);

#endif
