/* SPDX-License-Identifier: Apache-2.0 */
/* Packed objects read as plain ones, whatever is asked of them, and report damage. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kinformer/encoding.h>
#include <kinformer/kinds.h>
#include <kinformer/packed.h>
#include <kinformer/parts/store_write.h>
#include <kinformer/path.h>
#include <kinformer/projection.h>
#include <kinformer/storage.h>
#include <kinformer/view.h>

#include "object/pack/packed.h"
#include "support/golden.h"
#include "support/objects.h"
#include "support/same_value.h"
#include "support/test.h"

#define TEXT "abcdefghijklmnopqrstuvwxyz 0123456789 "

static const char pod_json[] =
    "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"web\",\"namespace\":\"shop\","
    "\"uid\":\"u1\",\"resourceVersion\":\"7\",\"generation\":2,\"creationTimestamp\":"
    "\"2026-01-02T03:04:05Z\",\"deletionTimestamp\":\"2026-01-02T03:04:06Z\",\"labels\":{\"app\":"
    "\"web\",\"tier\":\"front\"},\"annotations\":{\"note\":\"" TEXT TEXT TEXT TEXT TEXT TEXT TEXT
    "\"},\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\",\"name\":\"rs\","
    "\"uid\":\"u2\",\"controller\":true}],\"finalizers\":[\"f\"],\"managedFields\":[{\"manager\":"
    "\"" TEXT TEXT TEXT TEXT TEXT TEXT TEXT TEXT TEXT TEXT "\"}]},\"spec\":{\"nodeName\":\"n1\","
    "\"containers\":[{\"name\":\"a\",\"image\":\"i1\"}]},\"status\":{\"phase\":\"Running\","
    "\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}";

static ki__packer *new_packer(const ki_alloc *alloc)
{
    ki__packer *packer = NULL;
    ki_error error = KI_ERROR_INIT;
    if (ki__packer_new(alloc, &packer, &error) < 0) {
        fail_msg("%s", error.message);
    }
    packer->packs_all = true;
    return packer;
}

static void end_packer(ki__packer *packer)
{
    ki__packer_close(packer);
    ki__packer_unref(packer);
}

static ki_object *pack(ki__packer *packer, const ki_object *object)
{
    ki_object *packed = NULL;
    assert_int_equal(ki__packer_pack(packer, object, &packed, NULL), 0);
    assert_true(ki_object_is_packed(packed));
    assert_false(ki_object_is_packed(object));
    return packed;
}

static size_t opened(const ki__packer *packer)
{
    return ki__packer_memory(packer).opened;
}

/* ---- what is read ---- */

static void same_metadata(const ki_object *a, const ki_object *b)
{
    assert_string_equal(ki_object_key(a), ki_object_key(b));
    assert_string_equal(ki_object_name(a), ki_object_name(b));
    assert_string_equal(ki_object_namespace(a), ki_object_namespace(b));
    assert_string_equal(ki_object_uid(a), ki_object_uid(b));
    assert_string_equal(ki_object_resource_version(a), ki_object_resource_version(b));
    assert_string_equal(ki_object_kind(a), ki_object_kind(b));
    assert_string_equal(ki_object_api_version(a), ki_object_api_version(b));
    assert_int_equal(ki_object_generation(a), ki_object_generation(b));
    assert_int_equal(ki_object_creation_time(a), ki_object_creation_time(b));
    assert_int_equal(ki_object_deletion_time(a), ki_object_deletion_time(b));
    assert_int_equal(ki_object_is_deleting(a), ki_object_is_deleting(b));
    ki_value left = ki_object_labels(a);
    ki_value right = ki_object_labels(b);
    assert_true(same_value(&left, &right, NULL));
    left = ki_object_owner_references(a);
    right = ki_object_owner_references(b);
    assert_true(same_value(&left, &right, NULL));
    ki_owner owner = KI_OPTIONS_INIT(ki_owner);
    ki_owner other = KI_OPTIONS_INIT(ki_owner);
    assert_int_equal(ki_object_controller(a, &owner), ki_object_controller(b, &other));
    assert_true(ki_str_eq(owner.uid, other.uid));
    assert_int_equal(ki_object_encoding(a), ki_object_encoding(b));
    assert_int_equal(ki_object_is_complete(a), ki_object_is_complete(b));
    assert_int_equal(ki_object_is_partial(a), ki_object_is_partial(b));
}

static void same_content(const ki_object *a, const ki_object *b)
{
    ki_value left = ki_object_annotations(a);
    ki_value right = ki_object_annotations(b);
    assert_true(same_value(&left, &right, NULL));
    left = ki_object_finalizers(a);
    right = ki_object_finalizers(b);
    assert_true(same_value(&left, &right, NULL));
    left = ki_object_root(a);
    right = ki_object_root(b);
    assert_true(same_value(&left, &right, NULL));
    assert_true(ki_str_eq(ki_object_bytes(a), ki_object_bytes(b)));
}

/* Reads the object packed, as a closed copy, and decompressed. */
static void check_object(ki__packer *packer, const ki_object *object)
{
    ki_object *packed = pack(packer, object);
    size_t before = opened(packer);
    same_metadata(object, packed);
    ki_object *plain = NULL;
    assert_int_equal(ki_object_unpack(packed, &plain, NULL), 0);
    assert_false(ki_object_is_packed(plain));
    same_metadata(object, plain);
    same_content(object, plain);
    assert_int_equal(ki_object_memory(plain), ki_object_memory(object));
    assert_int_equal(opened(packer), before); /* nothing so far opened it */
    same_content(object, packed);
    assert_true(opened(packer) > before);
    ki_object *copy = ki__packed_copy(packed);
    assert_int_equal(ki_object_memory(copy), ki_object_memory(packed));
    (void)ki_object_unref(packed);
    same_metadata(object, copy);
    same_content(object, copy);
    (void)ki_object_unref(copy);
    (void)ki_object_unref(plain);
}

static void check_record(const golden_record *record, void *user)
{
    ki__packer *packer = user;
    ki_object *object = NULL;
    ki_str p = record->protobuf;
    assert_int_equal(ki_object_from_protobuf(p.ptr, p.len, NULL, &object, NULL), 0);
    check_object(packer, object);
    (void)ki_object_unref(object);
    object = NULL;
    assert_int_equal(ki_object_from_json(record->json.ptr, record->json.len, NULL, &object, NULL),
                     0);
    check_object(packer, object);
    (void)ki_object_unref(object);
}

static void every_kind_reads_the_same(void **state)
{
    (void)state;
    ki__packer *packer = new_packer(ki_alloc_default());
    assert_true(golden_each(TEST_DATA_DIR "/protobuf", check_record, packer) > 2000);
    assert_true(ki__packer_memory(packer).dictionaries != 0);
    end_packer(packer);
}

/* ---- projections ---- */

static void partial_objects_stay_partial(void **state)
{
    (void)state;
    ki_projection *projection = NULL;
    assert_int_equal(
        ki_projection_new(".spec.nodeName, .metadata.labels['app']", NULL, NULL, &projection, NULL),
        0);
    ki_object_options options = KI_OPTIONS_INIT(ki_object_options);
    options.projection = projection;
    ki_object *object = NULL;
    assert_int_equal(ki_object_from_json(pod_json, strlen(pod_json), &options, &object, NULL), 0);
    projection = ki_projection_unref(projection);
    ki__packer *packer = new_packer(ki_alloc_default());
    ki_object *packed = pack(packer, object);
    (void)ki_object_unref(object);
    end_packer(packer); /* objects live on */
    ki_value value = ki_object_at(packed, "spec.containers");
    ki_str text;
    assert_true(ki_object_is_partial(packed));
    assert_true(ki_object_label_is(packed, "app", "web"));
    ki_value labels = ki_object_labels(packed);
    assert_int_equal(ki_value_member(&labels, ki_str_from("tier"), &value), KI_ERR_NOT_KEPT);
    value = ki_object_annotations(packed);
    assert_int_equal(ki_value_string(&value, &text), KI_ERR_NOT_KEPT);
    assert_true(ki_object_equals(packed, "spec.nodeName", "n1"));
    value = ki_object_at(packed, "status.phase");
    assert_int_equal(ki_value_string(&value, &text), KI_ERR_NOT_KEPT);
    (void)ki_object_unref(packed);
}

/* ---- damage and missing memory ---- */

static void reading_fails(const ki_object *packed, int code)
{
    ki_value root = ki_object_root(packed);
    ki_value value;
    ki_str text;
    ki_path *path = NULL;
    ki_object *plain = NULL;
    ki_error error = KI_ERROR_INIT;
    ki_buf json;
    ki_buf_init(&json, NULL, 1 << 20);
    assert_int_equal(ki_object_unpack(packed, &plain, &error), code);
    assert_int_equal(error.code, code);
    assert_non_null(strstr(error.message, "shop/web"));
    assert_int_equal(ki_value_type(&root), KI_TYPE_NONE);
    assert_int_equal(ki_value_member(&root, ki_str_from("spec"), &value), code);
    assert_int_equal(ki_value_string(&root, &text), code);
    assert_int_equal(ki_path_compile("spec.nodeName", NULL, &path, NULL), 0);
    assert_int_equal(ki_path_first(path, &root, &value), code);
    path = ki_path_unref(path);
    value = ki_object_at(packed, "spec.nodeName");
    assert_int_equal(ki_value_string(&value, &text), code);
    value = ki_object_annotation(packed, "note");
    assert_int_equal(ki_value_string(&value, &text), code);
    assert_int_equal(ki_object_write_json(packed, &json), code);
    assert_int_equal(ki__object_require_whole(packed, &error), code);
    assert_int_equal(ki_object_write_protobuf(packed, &json, &error), code);
    assert_int_equal(json.len, 0);
    assert_int_equal(ki_object_bytes(packed).len, 0);
    assert_string_equal(ki_object_name(packed), "web"); /* the metadata is plain */
    assert_true(ki_object_label_is(packed, "tier", "front"));
    ki_buf_done(&json);
}

static void damage_is_reported(void **state)
{
    (void)state;
    ki__packer *packer = new_packer(ki_alloc_default());
    ki_object *object = test_json(pod_json);
    ki_object *packed = pack(packer, object);
    char *block = (char *)(uintptr_t)ki__packed_block(packed).ptr;
    size_t len = ki__packed_block(packed).len;
    size_t harmless = 0;
    for (size_t i = 0; i < len * 8; i++) {
        block[i / 8] ^= (char)(1 << i % 8);
        ki_object *plain = NULL;
        int r = ki_object_unpack(packed, &plain, NULL);
        if (r == 0) { /* a bit that means nothing */
            same_content(object, plain);
            harmless++;
        } else {
            assert_int_equal(r, KI_ERR_DAMAGED);
        }
        (void)ki_object_unref(plain);
        block[i / 8] ^= (char)(1 << i % 8);
    }
    assert_true(harmless < len / 8);
    block[len / 2] ^= 1;
    reading_fails(packed, KI_ERR_DAMAGED);
    block[len / 2] ^= 1;
    same_content(object, packed);
    (void)ki_object_unref(packed);
    (void)ki_object_unref(object);
    end_packer(packer);
}

/* Writing protobuf copies the bytes of a protobuf object, without reading fields. */
static void damaged_protobuf_is_not_written(void **state)
{
    (void)state;
    ki__packer *packer = new_packer(ki_alloc_default());
    ki_object *json = test_json(pod_json);
    ki_object *object = NULL;
    ki_buf bytes;
    ki_buf_init(&bytes, NULL, 1 << 20);
    assert_int_equal(ki_object_write_protobuf(json, &bytes, NULL), 0);
    assert_int_equal(ki_object_from_protobuf(bytes.data, bytes.len, NULL, &object, NULL), 0);
    ki_object *packed = pack(packer, object);
    ki_str block = ki__packed_block(packed);
    ((char *)(uintptr_t)block.ptr)[block.len / 2] ^= 1;
    reading_fails(packed, KI_ERR_DAMAGED);
    ki_buf_done(&bytes);
    (void)ki_object_unref(packed);
    (void)ki_object_unref(object);
    (void)ki_object_unref(json);
    end_packer(packer);
}

static void missing_memory_is_reported(void **state)
{
    (void)state;
    test_alloc alloc;
    test_alloc_init(&alloc);
    ki__packer *packer = new_packer(&alloc.table);
    ki_object_options options = KI_OPTIONS_INIT(ki_object_options);
    options.alloc = &alloc.table;
    ki_object *object = NULL;
    assert_int_equal(ki_object_from_json(pod_json, strlen(pod_json), &options, &object, NULL), 0);
    ki_object *packed = pack(packer, object);
    alloc.fail_at = alloc.calls + 1;
    alloc.fail_onwards = true;
    reading_fails(packed, -ENOMEM);
    alloc.fail_at = 0;
    same_content(object, packed);
    (void)ki_object_unref(packed);
    (void)ki_object_unref(object);
    end_packer(packer);
    test_alloc_done(&alloc);
}

static int pack_and_read(const ki_alloc *alloc, void *user)
{
    (void)user;
    ki__packer *packer = NULL;
    ki_object *object = NULL;
    ki_object *packed = NULL;
    ki_object *plain = NULL;
    ki_object_options options = KI_OPTIONS_INIT(ki_object_options);
    options.alloc = alloc;
    int r = ki_object_from_json(pod_json, strlen(pod_json), &options, &object, NULL);
    r = r < 0 ? r : ki__packer_new(alloc, &packer, NULL);
    r = r < 0 ? r : ki__packer_pack(packer, object, &packed, NULL);
    r = r < 0 ? r : ki_object_unpack(packed, &plain, NULL);
    if (r >= 0) {
        assert_true(ki_object_is_packed(packed));
        same_metadata(plain, packed);
        ki_value root = ki_object_root(packed);
        ki_value other = ki_object_root(plain);
        r = ki_value_type(&root) == KI_TYPE_NONE ? -ENOMEM : 0;
        assert_true(r < 0 || same_value(&root, &other, NULL));
    }
    (void)ki_object_unref(plain);
    (void)ki_object_unref(packed);
    (void)ki_object_unref(object);
    if (packer != NULL) {
        end_packer(packer);
    }
    return r;
}

static void any_allocation_may_fail(void **state)
{
    (void)state;
    test_alloc_sweep(pack_and_read, NULL);
}

static void without_libzstd_it_is_refused(void **state)
{
    (void)state;
    ki_store *store = NULL;
    ki_error error = KI_ERROR_INIT;
    const ki_store_options *packed = KI_OPTIONS(ki_store_options, .storage = KI_STORAGE_PACKED);
    assert_int_equal(ki_store_new(packed, &store, &error), KI_ERR_UNSUPPORTED);
    assert_null(store);
    assert_non_null(strstr(error.message, "packed storage: the library was built without libzstd"));
}

int main(void)
{
    const struct CMUnitTest without[] = {cmocka_unit_test(without_libzstd_it_is_refused)};
    if (!ki__codec_is_built()) {
        return cmocka_run_group_tests(without, NULL, NULL);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_reads_the_same),
        cmocka_unit_test(partial_objects_stay_partial),
        cmocka_unit_test(damage_is_reported),
        cmocka_unit_test(missing_memory_is_reported),
        cmocka_unit_test(damaged_protobuf_is_not_written),
        cmocka_unit_test(any_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
