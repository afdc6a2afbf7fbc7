/* SPDX-License-Identifier: Apache-2.0 */
/* Shard selectors. Kubernetes parses them as CEL, of which only calls of shardRange() joined by ||
 * are accepted, without recursion here. */
#include "object/selector/shard.h"

#include <string.h>

#include "base/assert.h"
#include "base/digits.h"
#include "base/error.h"

#define FNV_OFFSET UINT64_C(0xcbf29ce484222325)
#define FNV_PRIME UINT64_C(0x100000001b3)
#define END_TEXT "10000000000000000" /* 2^64, as an upper bound */
enum { HEX_DIGITS = 16 };

/* ---- writing ---- */

/* The hash at which shard `index` begins: floor(index * 2^64 / count). */
static uint64_t begin_of(uint32_t index, uint32_t count)
{
    uint64_t quotient = (UINT64_MAX - count + 1) / count + 1; /* of 2^64; 0 if count is 1 */
    uint64_t rest = 0 - quotient * count;
    return quotient * index + rest * index / count;
}

static char *put(char *at, const char *text)
{
    size_t len = strlen(text);
    memcpy(at, text, len + 1);
    return at + len;
}

static char *put_hex(char *at, uint64_t value)
{
    for (size_t i = HEX_DIGITS; i-- != 0; value >>= 4) {
        at[i] = "0123456789abcdef"[value & 15];
    }
    return at + HEX_DIGITS;
}

static const char *put_invalid(char *text, uint32_t index, uint32_t count)
{
    char room[KI__DIGITS_SIZE];
    char *at = put(text, "shard ");
    at = put(at, ki__digits(index, room).ptr);
    at = put(at, " of ");
    (void)put(at, ki__digits(count, room).ptr);
    return text;
}

const char *ki_shard(uint32_t index, uint32_t count, char text[KI_SHARD_TEXT_SIZE])
{
    if (index >= count) {
        return put_invalid(text, index, count);
    }
    char *at = put(text, "shardRange(object.metadata.uid, '0x");
    at = put_hex(at, begin_of(index, count));
    at = put(at, "', '0x");
    at = index + 1 < count ? put_hex(at, begin_of(index + 1, count)) : put(at, END_TEXT);
    at = put(at, "')");
    ki_assert(at < text + KI_SHARD_TEXT_SIZE);
    return text;
}

/* ---- parsing ---- */

typedef struct parser {
    const char *text;
    const char *at;
    ki_error *error;
} parser;

static int fail(const parser *p, const char *expected)
{
    return ki__error_set(p->error, KI_ERR_INVALID, "shard_selector: expected %s at offset %zu",
                         expected, (size_t)(p->at - p->text));
}

static void skip_spaces(parser *p)
{
    p->at += strspn(p->at, " \t");
}

/* Whether the word is next; if so, passes it and the spaces around it. */
static bool accept(parser *p, const char *word)
{
    skip_spaces(p);
    size_t len = strlen(word);
    bool found = strncmp(p->at, word, len) == 0;
    p->at += found ? len : 0;
    skip_spaces(p);
    return found;
}

static int hex_value(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* A bound in quotes. *ret_is_end: it is 2^64, and *ret_bound is 0. */
static int parse_bound(parser *p, uint64_t *ret_bound, bool *ret_is_end)
{
    static const char expected[] = "'0x' and 16 digits of 0-9 and a-f in quotes";
    skip_spaces(p);
    const char quote = *p->at;
    if ((quote != '\'' && quote != '"') || strncmp(p->at + 1, "0x", 2) != 0) {
        return fail(p, expected);
    }
    const char *digits = p->at + 3;
    uint64_t bound = 0;
    size_t len = 0;
    for (; len <= HEX_DIGITS && hex_value(digits[len]) >= 0; len++) {
        bound = bound << 4 | (uint64_t)hex_value(digits[len]);
    }
    *ret_is_end = len == HEX_DIGITS + 1 && strncmp(digits, END_TEXT, len) == 0;
    if ((len != HEX_DIGITS && !*ret_is_end) || digits[len] != quote) {
        return fail(p, expected);
    }
    *ret_bound = bound;
    p->at = digits + len + 1;
    skip_spaces(p);
    return 0;
}

static int parse_range(parser *p, bool *ret_by_namespace, ki__shard_range *ret_range)
{
    uint64_t first = 0;
    uint64_t end = 0;
    bool first_is_end = false;
    bool is_end = false;
    if (!accept(p, "shardRange") || !accept(p, "(")) {
        return fail(p, "shardRange(");
    }
    *ret_by_namespace = accept(p, "object.metadata.namespace");
    if (!*ret_by_namespace && !accept(p, "object.metadata.uid")) {
        return fail(p, "object.metadata.uid or object.metadata.namespace");
    }
    if (!accept(p, ",")) {
        return fail(p, "a comma");
    }
    int r = parse_bound(p, &first, &first_is_end);
    if (r == 0 && !accept(p, ",")) {
        r = fail(p, "a comma");
    }
    r = r < 0 ? r : parse_bound(p, &end, &is_end);
    if (r == 0 && (first_is_end || (!is_end && first >= end))) {
        return fail(p, "a second bound greater than the first");
    }
    if (r == 0 && !accept(p, ")")) {
        r = fail(p, ")");
    }
    *ret_range = (ki__shard_range){.first = first, .last = end - 1};
    return r;
}

int ki__shard_parse(const char *text, ki__shard *ret_shard, ki_error *error)
{
    parser p = {.text = text, .at = text, .error = error};
    ki__shard shard = {0};
    do {
        bool by_namespace = false;
        if (shard.count == KI__SHARD_RANGES_MAX) {
            return ki__error_set(error, KI_ERR_INVALID, "shard_selector: more than %d ranges",
                                 (int)KI__SHARD_RANGES_MAX);
        }
        int r = parse_range(&p, &by_namespace, &shard.ranges[shard.count]);
        if (r < 0) {
            return r;
        }
        if (shard.count != 0 && by_namespace != shard.by_namespace) {
            return fail(&p, "the same field in all ranges");
        }
        shard.by_namespace = by_namespace;
        shard.count++;
    } while (accept(&p, "||"));
    if (*p.at != '\0') {
        return fail(&p, "|| or the end");
    }
    *ret_shard = shard;
    return 0;
}

/* ---- matching ---- */

static uint64_t hash_of(const char *text)
{
    uint64_t hash = FNV_OFFSET;
    for (; *text != '\0'; text++) {
        hash = (hash ^ (unsigned char)*text) * FNV_PRIME;
    }
    return hash;
}

bool ki__shard_matches(const ki__shard *shard, const ki_object *object)
{
    uint64_t hash =
        hash_of(shard->by_namespace ? ki_object_namespace(object) : ki_object_uid(object));
    for (size_t i = 0; i < shard->count; i++) {
        if (hash >= shard->ranges[i].first && hash <= shard->ranges[i].last) {
            return true;
        }
    }
    return false;
}
