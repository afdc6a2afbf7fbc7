/* SPDX-License-Identifier: Apache-2.0 */
/* The labels that the tests of selectors match against. */
#ifndef TESTS_UNIT_SELECTOR_LABELS_H
#define TESTS_UNIT_SELECTOR_LABELS_H

#include <stdio.h>
#include <stdlib.h>

#include <kinformer/label_selector.h>
#include <kinformer/object.h>
#include <kinformer/selector.h>

#include "support/test.h"

static const char *const label_sets[] = {
    "{}",
    "{\"a\":\"b\"}",
    "{\"a\":\"c\",\"x\":\"1\"}",
    "{\"a\":\"\",\"x\":\"10\"}",
    "{\"x\":\"9223372036854775807\"}",
    "{\"x\":\"-5\"}",
    "{\"x\":\"abc\",\"in\":\"notin\"}",
    "{\"app.kubernetes.io/name\":\"web\",\"tier\":\"front\",\"a\":\"b\"}",
    "{\"x\":\"+7\",\"notin\":\"in\"}",
    "{\"x\":\"007\",\"a\":\"B\"}",
    "{\"x\":\"1_000\",\"b\":\"a\"}",
    "{\"x\":\" 8\",\"a\":\" b\"}",
    "{\"x\":\"9223372036854775808\",\"y\":\"\"}",
    "{\"x\":\"-9223372036854775808\",\"a\":\"d\"}",
    "{\"x\":\"\",\"a\":\"in\",\"b\":\"b\"}",
};
enum { LABEL_SETS = sizeof(label_sets) / sizeof(label_sets[0]) };

/** An object with these labels: JSON, or "" for none. The caller's to unref. */
static inline ki_object *labels_object(const char *labels)
{
    char json[1024];
    int len = snprintf(json, sizeof(json), "{\"metadata\":{\"name\":\"n\"%s%s}}",
                       labels[0] != '\0' ? ",\"labels\":" : "", labels);
    assert_in_range(len, 1, sizeof(json) - 1);
    ki_object *object = NULL;
    assert_int_equal(ki_object_from_json(json, (size_t)len, NULL, &object, NULL), 0);
    return object;
}

/** Whether the selector matches such an object, asked in both ways. */
static inline bool matches_labels(const ki_selector *selector, const char *labels)
{
    ki_object *object = labels_object(labels);
    bool matches = ki_selector_matches(selector, object);
    ki_value value = ki_object_labels(object);
    assert_int_equal(ki_selector_matches_labels(selector, &value), matches);
    ki_object_unref(object);
    return matches;
}

/** Fails unless the selector matches exactly the label sets that `expected` marks with 1. */
static inline void check_matches(const ki_selector *selector, const char *source,
                                 const char *expected)
{
    assert_int_equal(strlen(expected), LABEL_SETS);
    for (size_t i = 0; i < LABEL_SETS; i++) {
        if (matches_labels(selector, label_sets[i]) != (expected[i] == '1')) {
            fail_msg("%s: labels %s: expected %c", source, label_sets[i], expected[i]);
        }
    }
}

/** Fails unless the selector prints as `expected`. */
static inline void check_printed(const ki_selector *selector, const char *source,
                                 const char *expected)
{
    ki_buf out;
    ki_buf_init(&out, NULL, 1 << 20);
    assert_int_equal(ki_selector_print(selector, &out), 0);
    if (strcmp(ki_buf_text(&out), expected) != 0) {
        fail_msg("%s: printed %s, expected %s", source, ki_buf_text(&out), expected);
    }
    ki_buf_done(&out);
}

/** Parses what must be valid. */
static inline ki_selector *parse_valid(const char *text)
{
    ki_selector *selector = NULL;
    ki_error error = KI_ERROR_INIT;
    if (ki_selector_parse(text, NULL, &selector, &error) != 0) {
        fail_msg("%s: at %zu: %s", text, error.offset, error.message);
    }
    return selector;
}

#endif
