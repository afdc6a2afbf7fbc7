/* SPDX-License-Identifier: Apache-2.0 */
/* Shard selectors: accepted and rejected texts as by k8s.io/apiserver v0.36 (pkg/sharding), which
 * tests/e2e/test_shards.py compares on a real server; hashes are the published vectors of FNV-1a.
 */
#include <stdio.h>
#include <string.h>

#include <kinformer/buf.h>
#include <kinformer/object.h>
#include <kinformer/shard.h>

#include "object/selector/shard.h"
#include "support/test.h"

static ki__shard parsed(const char *text)
{
    ki__shard shard;
    ki_error error = KI_ERROR_INIT;
    if (ki__shard_parse(text, &shard, &error) < 0) {
        fail_msg("%s: %s", text, error.message);
    }
    return shard;
}

static ki_object *object_with(const char *uid, const char *name_space)
{
    char json[256];
    ki_object *object = NULL;
    int len = snprintf(json, sizeof(json),
                       "{\"metadata\":{\"name\":\"x\",\"uid\":\"%s\",\"namespace\":\"%s\"}}", uid,
                       name_space);
    assert_int_equal(ki_object_from_json(json, (size_t)len, NULL, &object, NULL), 0);
    return object;
}

/* Whether a range of just this hash has the object. */
static bool has_hash(const char *field, uint64_t hash, const ki_object *object)
{
    char text[128];
    (void)snprintf(text, sizeof(text), "shardRange(%s, '0x%016llx', '0x%016llx')", field,
                   (unsigned long long)hash, (unsigned long long)hash + 1);
    ki__shard shard = parsed(text);
    return ki__shard_matches(&shard, object);
}

static void hashes_are_fnv_1a(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t hash;
    } vectors[] = {
        {"", UINT64_C(0xcbf29ce484222325)},
        {"a", UINT64_C(0xaf63dc4c8601ec8c)},
        {"foobar", UINT64_C(0x85944171f73967e8)},
    };
    for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
        ki_object *by_uid = object_with(vectors[i].text, "other");
        ki_object *by_namespace = object_with("other", vectors[i].text);
        uint64_t hash = vectors[i].hash;
        assert_true(has_hash("object.metadata.uid", hash, by_uid));
        assert_false(has_hash("object.metadata.uid", hash + 1, by_uid));
        assert_false(has_hash("object.metadata.uid", hash - 1, by_uid));
        assert_false(has_hash("object.metadata.uid", hash, by_namespace));
        assert_true(has_hash("object.metadata.namespace", hash, by_namespace));
        assert_false(has_hash("object.metadata.namespace", hash, by_uid));
        (void)ki_object_unref(by_uid);
        (void)ki_object_unref(by_namespace);
    }
}

#define UID "object.metadata.uid"
#define RANGE "shardRange(" UID ", '0x0000000000000000', '0x8000000000000000')"

static void texts_of_the_server_are_accepted(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t count;
        uint64_t first, last; /* of the last range */
    } accepted[] = {
        {RANGE, 1, 0, INT64_MAX},
        {"  shardRange ( " UID " , '0x0000000000000001' , \"0x0000000000000002\" )  ", 1, 1, 1},
        {"shardRange(" UID ",'0xffffffffffffffff','0x10000000000000000')", 1, UINT64_MAX,
         UINT64_MAX},
        {RANGE " || shardRange(" UID ", '0xc000000000000000', '0xd000000000000000')", 2,
         UINT64_C(0xc) << 60, (UINT64_C(0xd) << 60) - 1},
        {RANGE "||" RANGE "||" RANGE, 3, 0, INT64_MAX},
    };
    for (size_t i = 0; i < sizeof(accepted) / sizeof(accepted[0]); i++) {
        ki__shard shard = parsed(accepted[i].text);
        assert_int_equal(shard.count, accepted[i].count);
        assert_true(shard.ranges[shard.count - 1].first == accepted[i].first);
        assert_true(shard.ranges[shard.count - 1].last == accepted[i].last);
    }
}

static void other_texts_are_rejected_with_their_position(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *message;
    } rejected[] = {
        {"", "expected shardRange( at offset 0"},
        {"app=web", "expected shardRange( at offset 0"},
        {"shardRange", "expected shardRange( at offset 10"},
        {"shardRange(object.metadata.name, '0x0', '0x1')", "object.metadata.uid or"},
        {"shardRange(" UID " '0x0000000000000000'", "a comma at offset 31"},
        {"shardRange(" UID ", '0x0', '0x8000000000000000')", "16 digits"},
        {"shardRange(" UID ", '0x000000000000000A', '0x8000000000000000')", "16 digits"},
        {"shardRange(" UID ", '0000000000000000', '0x8000000000000000')", "16 digits"},
        {"shardRange(" UID ", '0x0000000000000000\", '0x8000000000000000')", "16 digits"},
        {"shardRange(" UID ", '0x0000000000000000', '0x20000000000000000')", "16 digits"},
        {"shardRange(" UID ", '0x0000000000000000', '0x100000000000000000')", "16 digits"},
        {"shardRange(" UID ", '0x8000000000000000', '0x8000000000000000')", "a second bound"},
        {"shardRange(" UID ", '0x10000000000000000', '0x10000000000000000')", "a second bound"},
        {"shardRange(" UID ", '0x0000000000000000', '0x8000000000000000'", "expected ) at"},
        {RANGE " ||", "expected shardRange( at"},
        {RANGE " | " RANGE, "|| or the end at"},
        {RANGE " x", "|| or the end at"},
        {RANGE " || shardRange(object.metadata.namespace, '0x0000000000000000', "
               "'0x8000000000000000')",
         "the same field"},
    };
    for (size_t i = 0; i < sizeof(rejected) / sizeof(rejected[0]); i++) {
        ki__shard shard = {.count = 7};
        ki_error error = KI_ERROR_INIT;
        int r = ki__shard_parse(rejected[i].text, &shard, &error);
        assert_int_equal(r, KI_ERR_INVALID);
        assert_int_equal(shard.count, 7); /* untouched */
        if (strstr(error.message, rejected[i].message) == NULL) {
            fail_msg("%s: %s", rejected[i].text, error.message);
        }
    }
}

static void there_is_a_limit_of_ranges(void **state)
{
    (void)state;
    ki__shard shard;
    ki_buf text;
    ki_buf_init(&text, NULL, 1 << 16);
    assert_int_equal(ki_buf_add_str(&text, ki_str_from(RANGE)), 0);
    for (size_t i = 1; i < KI__SHARD_RANGES_MAX; i++) {
        assert_int_equal(ki_buf_add_str(&text, ki_str_from("||" RANGE)), 0);
    }
    assert_int_equal(parsed(ki_buf_text(&text)).count, KI__SHARD_RANGES_MAX);
    assert_int_equal(ki_buf_add_str(&text, ki_str_from("||" RANGE)), 0);
    assert_int_equal(ki__shard_parse(ki_buf_text(&text), &shard, NULL), KI_ERR_INVALID);
    ki_buf_done(&text);
}

static void shards_meet_without_a_gap_and_cover_everything(void **state)
{
    (void)state;
    static const uint32_t counts[] = {1, 2, 3, 7, 16, 100, 999, UINT32_MAX};
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        uint32_t count = counts[i];
        uint32_t most = count < 1000 ? count : 1000;
        uint64_t next = 0;
        for (uint32_t index = 0; index < most; index++) {
            char text[KI_SHARD_TEXT_SIZE];
            ki__shard shard = parsed(ki_shard(index, count, text));
            assert_int_equal(shard.count, 1);
            assert_true(shard.ranges[0].first == next);
            uint64_t width = shard.ranges[0].last - shard.ranges[0].first;
            assert_true(width - (UINT64_MAX / count - 1) <=
                        2); /* all of one size, give or take 1 */
            next = shard.ranges[0].last + 1;
        }
        char text[KI_SHARD_TEXT_SIZE];
        assert_true(parsed(ki_shard(count - 1, count, text)).ranges[0].last == UINT64_MAX);
    }
}

/* What is hashed are texts of random uids: parts of equal size have about equally many. */
static void shards_have_equal_parts(void **state)
{
    (void)state;
    enum { SHARDS = 5, OBJECTS = 20000 };
    size_t counts[SHARDS] = {0};
    ki__shard shards[SHARDS];
    char text[KI_SHARD_TEXT_SIZE];
    uint64_t seed = 1;
    for (uint32_t i = 0; i < SHARDS; i++) {
        shards[i] = parsed(ki_shard(i, SHARDS, text));
    }
    for (size_t i = 0; i < OBJECTS; i++) {
        char uid[64];
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
        (void)snprintf(uid, sizeof(uid), "%08x-4a2b-4c0d-9e1f-%012llx", (unsigned)(seed >> 32),
                       (unsigned long long)(seed & 0xffffffffffff));
        ki_object *object = object_with(uid, "");
        size_t found = 0;
        for (size_t k = 0; k < SHARDS; k++) {
            bool has = ki__shard_matches(&shards[k], object);
            counts[k] += has;
            found += has;
        }
        assert_int_equal(found, 1);
        (void)ki_object_unref(object);
    }
    for (size_t k = 0; k < SHARDS; k++) {
        assert_in_range(counts[k], OBJECTS / SHARDS * 9 / 10, OBJECTS / SHARDS * 11 / 10);
    }
}

static void an_index_out_of_range_is_reported_when_it_is_used(void **state)
{
    (void)state;
    char text[KI_SHARD_TEXT_SIZE];
    ki__shard shard;
    assert_string_equal(ki_shard(4, 4, text), "shard 4 of 4");
    assert_int_equal(ki__shard_parse(text, &shard, NULL), KI_ERR_INVALID);
    assert_string_equal(ki_shard(UINT32_MAX, 0, text), "shard 4294967295 of 0");
    assert_int_equal(ki__shard_parse(text, &shard, NULL), KI_ERR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hashes_are_fnv_1a),
        cmocka_unit_test(texts_of_the_server_are_accepted),
        cmocka_unit_test(other_texts_are_rejected_with_their_position),
        cmocka_unit_test(there_is_a_limit_of_ranges),
        cmocka_unit_test(shards_meet_without_a_gap_and_cover_everything),
        cmocka_unit_test(shards_have_equal_parts),
        cmocka_unit_test(an_index_out_of_range_is_reported_when_it_is_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
