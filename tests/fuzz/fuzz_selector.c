/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a label selector, a field selector and a shard selector. What is accepted must print
 * as text that is accepted again, prints the same and matches the same; what is rejected must say
 * where. */
#include <kinformer/buf.h>
#include <kinformer/field_selector.h>
#include <kinformer/label_selector.h>
#include <kinformer/selector.h>

#include "object/selector/field_selector.h"
#include "object/selector/selector.h"
#include "object/selector/shard.h"

static void must(bool condition)
{
    if (!condition) {
        __builtin_trap();
    }
}

static const char *const samples[] = {
    "{\"metadata\":{\"name\":\"n\",\"namespace\":\"s\"},\"a\":\"b\",\"spec\":{\"x\":1}}",
    "{\"metadata\":{\"name\":\"a\",\"labels\":{\"a\":\"b\",\"x\":\"1\"}},\"spec\":{\"x\":true}}",
    "{\"metadata\":{\"labels\":{\"a\":\"\",\"in\":\"notin\",\"x\":\"-5\"}},\"a\":\"\\u002c\"}",
    "{\"metadata\":{\"labels\":{\"\\u0061\":\"\\u0063\",\"a.b/c\":\"d\",\"x\":\"9\"}},\"\":\"\"}",
};
enum { SAMPLES = sizeof(samples) / sizeof(samples[0]) };

static const ki_object *sample(size_t i)
{
    static ki_object *objects[SAMPLES];
    if (objects[i] == NULL) {
        must(ki_object_from_json(samples[i], strlen(samples[i]), NULL, &objects[i], NULL) == 0);
    }
    return objects[i];
}

static void check_error(int r, const ki_error *error, size_t len)
{
    must(r == KI_ERR_SYNTAX || r == KI_ERR_INVALID || r == KI_ERR_LIMIT);
    must(error->code == r && error->message[0] != '\0');
    must(error->offset <= len && error->line >= 1 && error->column >= 1);
}

static void label_selector(ki_str text)
{
    ki_selector *first = NULL;
    ki_error error = KI_ERROR_INIT;
    int r = ki__selector_parse(text, NULL, &first, &error);
    if (r < 0) {
        check_error(r, &error, text.len);
        return;
    }
    ki_buf printed;
    ki_buf again;
    ki_buf_init(&printed, NULL, SIZE_MAX);
    ki_buf_init(&again, NULL, SIZE_MAX);
    must(ki_selector_print(first, &printed) == 0);
    ki_selector *second = NULL;
    must(ki__selector_parse(ki_buf_str(&printed), NULL, &second, NULL) == 0);
    must(ki_selector_print(second, &again) == 0);
    must(ki_str_eq(ki_buf_str(&printed), ki_buf_str(&again)));
    must(ki_selector_is_everything(first) == ki_selector_is_everything(second));
    for (size_t i = 0; i < SAMPLES; i++) {
        must(ki_selector_matches(first, sample(i)) == ki_selector_matches(second, sample(i)));
    }
    ki_selector_unref(first);
    ki_selector_unref(second);
    ki_buf_done(&printed);
    ki_buf_done(&again);
}

static void field_selector(ki_str text)
{
    ki_field_selector *first = NULL;
    ki_error error = KI_ERROR_INIT;
    int r = ki__field_selector_parse(text, NULL, &first, &error);
    if (r < 0) {
        check_error(r, &error, text.len);
        return;
    }
    ki_buf printed;
    ki_buf again;
    ki_buf_init(&printed, NULL, SIZE_MAX);
    ki_buf_init(&again, NULL, SIZE_MAX);
    must(ki_field_selector_print(first, &printed) == 0);
    ki_field_selector *second = NULL;
    must(ki__field_selector_parse(ki_buf_str(&printed), NULL, &second, NULL) == 0);
    must(ki_field_selector_print(second, &again) == 0);
    must(ki_str_eq(ki_buf_str(&printed), ki_buf_str(&again)));
    for (size_t i = 0; i < SAMPLES; i++) {
        must(ki_field_selector_matches(first, sample(i)) ==
             ki_field_selector_matches(second, sample(i)));
    }
    ki_field_selector_unref(first);
    ki_field_selector_unref(second);
    ki_buf_done(&printed);
    ki_buf_done(&again);
}

/* Ranges are never empty, and a rejected text leaves the result alone. */
static void shard_selector(ki_str text)
{
    char copy[4096];
    ki__shard shard = {.count = SIZE_MAX};
    ki_error error = KI_ERROR_INIT;
    if (text.len >= sizeof(copy)) {
        return;
    }
    memcpy(copy, text.len != 0 ? text.ptr : "", text.len);
    copy[text.len] = '\0';
    int r = ki__shard_parse(copy, &shard, &error);
    must(r == 0 || (r == KI_ERR_INVALID && shard.count == SIZE_MAX && error.message[0] != '\0'));
    for (size_t i = 0; r == 0 && i < shard.count; i++) {
        must(shard.count <= KI__SHARD_RANGES_MAX);
        must(shard.ranges[i].first <= shard.ranges[i].last);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    ki_str text = ki_str_make((const char *)bytes, len);
    label_selector(text);
    field_selector(text);
    shard_selector(text);
    return 0;
}
