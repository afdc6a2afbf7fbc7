/* SPDX-License-Identifier: Apache-2.0 */
/* Random documents for property tests. One seed is one document; with a twist, which is not 0, it
 * is almost the same one: here and there a value, a member or an element is another. */
#ifndef TESTS_SUPPORT_RANDOM_JSON_H
#define TESTS_SUPPORT_RANDOM_JSON_H

#include <kinformer/object.h>

#include "support/test.h"

typedef struct random_json {
    ki_buf text;
    uint64_t twist;
    bool nulls; /* members of maps may be null */
} random_json;

static inline void random_json_value(random_json *json, uint64_t seed, unsigned depth, bool list);

/* The seed of a child, or of another one in its place. */
static inline uint64_t random_json_child(const random_json *json, uint64_t *state)
{
    uint64_t seed = test_random(state);
    uint64_t mixed = seed ^ json->twist;
    return json->twist != 0 && test_random(&mixed) % 16 == 0 ? mixed : seed;
}

static inline void random_json_map(random_json *json, uint64_t seed, unsigned depth)
{
    static const char *const names[] = {
        "a", "name", "type", "c.d/e", "~f", "", "g'h", "i\\n", "\\u006a", "k\\\\l", "[m]", "n=o",
    };
    bool first = true;
    test_add(&json->text, "{", 1);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        uint64_t child = random_json_child(json, &seed);
        if (child % 3 == 0) {
            test_add(&json->text, first ? "\"" : ",\"", 1);
            test_add(&json->text, names[i], 1);
            test_add(&json->text, "\":", 1);
            random_json_value(json, child, depth, false);
            first = false;
        }
    }
    test_add(&json->text, "}", 1);
}

static inline void random_json_list(random_json *json, uint64_t seed, unsigned depth)
{
    bool first = true;
    test_add(&json->text, "[", 1);
    for (size_t i = 0; i < 6; i++) {
        uint64_t child = random_json_child(json, &seed);
        if (child % 2 == 0) {
            test_add(&json->text, ",", first ? 0 : 1);
            random_json_value(json, child, depth, true);
            first = false;
        }
    }
    test_add(&json->text, "]", 1);
}

static inline void random_json_value(random_json *json, uint64_t seed, unsigned depth, bool list)
{
    static const char *const scalars[] = {
        "true",
        "false",
        "0",
        "-7",
        "1.5",
        "1e3",
        "9007199254740993",
        "\"\"",
        "\"x\"",
        "\"y z\"",
        "\"\\u00e9'\\\\\"",
        "\"]\"",
        "\"web\"",
        "\"\\ud83d\\ude00\"",
    };
    uint64_t kind = test_random(&seed) % 8;
    if (depth != 0 && kind < 3) {
        random_json_map(json, seed, depth - 1);
    } else if (depth != 0 && kind < 5) {
        random_json_list(json, seed, depth - 1);
    } else if (kind == 5 && (json->nulls || list)) {
        test_add(&json->text, "null", 1);
    } else {
        size_t count = sizeof(scalars) / sizeof(scalars[0]);
        test_add(&json->text, scalars[test_random(&seed) % count], 1);
    }
}

/** The document of a seed: a map with maps and lists in it. */
static inline ki_object *random_json_object(uint64_t seed, uint64_t twist, bool nulls)
{
    random_json json = {.twist = twist, .nulls = nulls};
    ki_object *object = NULL;
    ki_error error = KI_ERROR_INIT;
    ki_buf_init(&json.text, NULL, 1 << 24);
    random_json_map(&json, seed, 4);
    if (ki_object_from_json(json.text.data, json.text.len, NULL, &object, &error) < 0) {
        fail_msg("%s: %s", error.message, json.text.data);
    }
    ki_buf_done(&json.text);
    return object;
}

#endif
