/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: whatever a name in JSON is, the name made of it is an identifier of C, so that nothing
 * of a schema gets into a header as code. */
#include "cli/genviews/view_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report_failure.h"

enum { BLOCK_BYTES = 65536, SLOTS_MIN = 64, ALIGN = 16 };

/* ---- memory ---- */

struct cli_arena_block {
    struct cli_arena_block *before;
    size_t used;
    size_t size;
    _Alignas(ALIGN) char bytes[];
};

void *cli_arena_take(cli_arena *arena, size_t size)
{
    struct cli_arena_block *block = arena->last;
    size = (size + ALIGN - 1) / ALIGN * ALIGN;
    if (block == NULL || block->size - block->used < size) {
        size_t bytes = size > BLOCK_BYTES ? size : BLOCK_BYTES;
        block = malloc(sizeof(*block) + bytes);
        if (block == NULL) {
            cli_fail_memory();
        }
        *block = (struct cli_arena_block){.before = arena->last, .size = bytes};
        arena->last = block;
    }
    void *taken = block->bytes + block->used;
    block->used += size;
    return taken;
}

char *cli_arena_copy(cli_arena *arena, ki_str text)
{
    char *copy = cli_arena_take(arena, text.len + 1);
    if (text.len != 0) {
        memcpy(copy, text.ptr, text.len);
    }
    copy[text.len] = '\0';
    return copy;
}

char *cli_arena_join(cli_arena *arena, const char *a, const char *b, const char *c)
{
    size_t size = strlen(a) + strlen(b) + strlen(c) + 1;
    char *joined = cli_arena_take(arena, size);
    (void)snprintf(joined, size, "%s%s%s", a, b, c);
    return joined;
}

void cli_arena_done(cli_arena *arena)
{
    while (arena->last != NULL) {
        struct cli_arena_block *before = arena->last->before;
        free(arena->last);
        arena->last = before;
    }
}

/* ---- sets ---- */

static uint64_t hash(const char *name)
{
    uint64_t value = 0xcbf29ce484222325; /* FNV-1a */
    for (; *name != '\0'; name++) {
        value = (value ^ (unsigned char)*name) * 0x100000001b3;
    }
    return value;
}

/* The slot of a name, or the empty one where it belongs. */
static const char **slot_of(const cli_names *names, const char *name)
{
    size_t at = hash(name) & (names->capacity - 1);
    while (names->slots[at] != NULL && strcmp(names->slots[at], name) != 0) {
        at = (at + 1) & (names->capacity - 1);
    }
    return &names->slots[at];
}

bool cli_names_has(const cli_names *names, const char *name)
{
    return names->capacity != 0 && *slot_of(names, name) != NULL;
}

static void grow(cli_names *names)
{
    cli_names larger = {.count = names->count};
    larger.capacity = names->capacity != 0 ? names->capacity * 2 : SLOTS_MIN;
    larger.slots = calloc(larger.capacity, sizeof(*larger.slots));
    if (larger.slots == NULL) {
        cli_fail_memory();
    }
    for (size_t i = 0; i < names->capacity; i++) {
        if (names->slots[i] != NULL) {
            *slot_of(&larger, names->slots[i]) = names->slots[i];
        }
    }
    free(names->slots);
    *names = larger;
}

void cli_names_add(cli_names *names, const char *name)
{
    if (names->count * 2 >= names->capacity) {
        grow(names);
    }
    const char **slot = slot_of(names, name);
    names->count += *slot == NULL ? 1 : 0;
    *slot = name;
}

void cli_names_clear(cli_names *names)
{
    if (names->capacity != 0) {
        memset(names->slots, 0, names->capacity * sizeof(*names->slots));
    }
    names->count = 0;
}

void cli_names_done(cli_names *names)
{
    free(names->slots);
    *names = (cli_names){0};
}

const char *cli_names_unique(cli_names *names, cli_arena *arena, const char *name,
                             const char *between)
{
    const char *found = name;
    for (int i = 2; cli_names_has(names, found); i++) {
        char number[16];
        if (i > CLI_NAME_TRIES) {
            return NULL;
        }
        (void)snprintf(number, sizeof(number), "%d", i);
        found = cli_arena_join(arena, name, between, number);
    }
    cli_names_add(names, found);
    return found;
}

/* ---- words ---- */

static int compare_words(const void *a, const void *b)
{
    return strcmp(a, *(const char *const *)b);
}

/* Sorted. The test cli_gen_views compares it with view_macros.inc. */
static const char *const cpp_words[] = {
    "alignas",
    "alignof",
    "and",
    "and_eq",
    "asm",
    "assert",
    "at",
    "auto",
    "bitand",
    "bitor",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "char16_t",
    "char32_t",
    "char8_t",
    "class",
    "co_await",
    "co_return",
    "co_yield",
    "compl",
    "concept",
    "const",
    "const_cast",
    "consteval",
    "constexpr",
    "constinit",
    "continue",
    "decltype",
    "default",
    "delete",
    "do",
    "double",
    "dynamic_cast",
    "edit_base",
    "else",
    "enum",
    "errno",
    "exists",
    "explicit",
    "export",
    "extern",
    "false",
    "float",
    "for",
    "friend",
    "get",
    "goto",
    "if",
    "inline",
    "int",
    "int32_t",
    "int64_t",
    "linux",
    "long",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "nullptr",
    "of",
    "operator",
    "or",
    "or_eq",
    "place",
    "private",
    "protected",
    "public",
    "register",
    "reinterpret_cast",
    "requires",
    "restrict",
    "return",
    "self",
    "short",
    "signed",
    "sizeof",
    "static",
    "static_assert",
    "static_cast",
    "stderr",
    "stdin",
    "stdout",
    "struct",
    "switch",
    "template",
    "this",
    "thread_local",
    "throw",
    "true",
    "try",
    "typed",
    "typed_edit",
    "typedef",
    "typeid",
    "typename",
    "typeof",
    "union",
    "unix",
    "unsigned",
    "using",
    "value",
    "view_base",
    "virtual",
    "void",
    "volatile",
    "wchar_t",
    "while",
    "xor",
    "xor_eq",
};

bool cli_name_is_cpp_word(const char *name)
{
    return bsearch(name, cpp_words, sizeof(cpp_words) / sizeof(cpp_words[0]), sizeof(cpp_words[0]),
                   compare_words) != NULL;
}

bool cli_name_is_c_word(const char *name)
{
    /* Sorted. */
    static const char *const words[] = {
        "asm",      "auto",     "bool",   "break",    "case",   "char",    "const",  "continue",
        "default",  "do",       "double", "else",     "enum",   "errno",   "extern", "false",
        "float",    "for",      "goto",   "if",       "inline", "int",     "linux",  "long",
        "register", "restrict", "return", "short",    "signed", "sizeof",  "static", "stderr",
        "stdin",    "stdout",   "struct", "switch",   "true",   "typedef", "typeof", "union",
        "unix",     "unsigned", "void",   "volatile", "while",
    };
    return bsearch(name, words, sizeof(words) / sizeof(words[0]), sizeof(words[0]),
                   compare_words) != NULL;
}

/* Independent of the locale. */
static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_alnum(char c)
{
    return is_lower(c) || (c >= 'A' && c <= 'Z') || is_digit(c);
}

/* All bytes of a character but the first in UTF-8. */
static bool is_continued(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

bool cli_name_is_plain(ki_str name)
{
    for (size_t i = 0; i < name.len; i++) {
        if (!is_alnum(name.ptr[i]) && name.ptr[i] != '_') {
            return false;
        }
    }
    return name.len != 0 && !is_digit(name.ptr[0]) && name.ptr[0] != '_';
}

/* Letters, digits and "_" for each other character, except at the beginning. */
static char *mapped(cli_arena *arena, ki_str name)
{
    char *out = cli_arena_take(arena, name.len + 1);
    size_t len = 0;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        if (is_alnum(c)) {
            out[len++] = c;
        } else if (len != 0 && !is_continued(c)) {
            out[len++] = '_';
        }
    }
    out[len] = '\0';
    return out;
}

static bool has_prefix(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool has_lower(const char *text)
{
    while (*text != '\0' && !is_lower(*text)) {
        text++;
    }
    return *text != '\0';
}

/* Whether functions of types have this name, or macros are likely to have it. */
static bool is_reserved(const char *name)
{
    static const char *const words[] = {"of", "list", "map", "edit", "Bool"}; /* _Bool is a macro */
    static const char *const prefixes[] = {"list_", "map_", "edit_"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(name, words[i]) == 0) {
            return true;
        }
    }
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        if (has_prefix(name, prefixes[i])) {
            return true;
        }
    }
    return !has_lower(name);
}

char *cli_name_field(cli_arena *arena, ki_str name)
{
    char *id = mapped(arena, name);
    if (id[0] == '\0') {
        return cli_arena_join(arena, "field", "", "");
    }
    if (is_digit(id[0]) || has_prefix(id, "ki_")) {
        id = cli_arena_join(arena, "x", id, "");
    }
    return is_reserved(id) ? cli_arena_join(arena, id, "_", "") : id;
}

bool cli_name_is_derived(const char *id)
{
    static const char *const prefixes[] = {"has_", "get_", "set_", "remove_", "copy_"};
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        if (has_prefix(id, prefixes[i])) {
            return true;
        }
    }
    return false;
}

char *cli_name_type(cli_arena *arena, const char *outer, ki_str field)
{
    char *out = cli_arena_take(arena, strlen(outer) + field.len + sizeof("Field"));
    size_t len = strlen(outer);
    size_t before = len;
    bool raise = true;
    memcpy(out, outer, len);
    for (size_t i = 0; i < field.len; i++) {
        char c = field.ptr[i];
        if (!is_alnum(c)) {
            raise = true;
            continue;
        }
        out[len++] = raise && is_lower(c) ? (char)(c - 'a' + 'A') : c;
        raise = false;
    }
    out[len] = '\0';
    if (len == before) {
        memcpy(out + len, "Field", sizeof("Field"));
    }
    return out;
}

char *cli_name_group_version(cli_arena *arena, const char *group, const char *version)
{
    char *both = cli_arena_join(arena, group, "_", version);
    for (char *c = both; *c != '\0'; c++) {
        *c = is_alnum(*c) ? *c : '_';
    }
    return is_digit(both[0]) ? cli_arena_join(arena, "x", both, "") : both;
}

char *cli_name_constant(cli_arena *arena, ki_str value)
{
    char *name = mapped(arena, value);
    if (name[0] == '\0') {
        return cli_arena_join(arena, value.len == 0 ? "empty" : "other", "", "");
    }
    return name;
}
