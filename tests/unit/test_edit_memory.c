/* SPDX-License-Identifier: Apache-2.0 */
/* Failing allocations in every call that writes, edits, merges or compares objects: one call at a
 * time, so that each failure is the first one there is. Objects are of both encodings. A failure
 * must be reported as -ENOMEM, leave outputs as they were, and leak nothing. */
#include <errno.h>

#include <kinformer/diff.h>
#include <kinformer/edit.h>
#include <kinformer/encoding.h>
#include <kinformer/json.h>
#include <kinformer/merge.h>
#include <kinformer/time.h>

#include "support/objects.h"
#include "support/test.h"

#define LONG                                                                                      \
    "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890" \
    "1234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901"

/* A pod as JSON with escapes, and the same as protobuf. */
static ki_object *pods[2];

static int make_pods(void **state)
{
    (void)state;
    ki_buf bytes;
    pods[0] = test_object(
        NULL, "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p','namespace':'n','uid':'u',"
              "'resourceVersion':'1','labels':{'a':'b'},'finalizers':['f'],'ownerReferences':[{"
              "'apiVersion':'apps/v1','kind':'ReplicaSet','name':'r','uid':'v'}]},'spec':{"
              "'containers':[{'name':'\\u0063','image':'i','args':['\\n','y']},{'name':'d'}]},"
              "'status':{'conditions':[{'type':'Ready','status':'True'}]}}");
    ki_buf_init(&bytes, NULL, 4096);
    assert_int_equal(ki_object_write_protobuf(pods[0], &bytes, NULL), 0);
    assert_int_equal(ki_object_from_protobuf(bytes.data, bytes.len, NULL, &pods[1], NULL), 0);
    ki_buf_done(&bytes);
    return 0;
}

static int drop_pods(void **state)
{
    (void)state;
    ki_object_unref(pods[0]);
    ki_object_unref(pods[1]);
    return 0;
}

/* ---- ki_json ---- */

enum { WRITES = 20 };

static void write_scalar(ki_json *json, size_t which)
{
    switch (which) {
    case 0:
        ki_json_string(json, "a", LONG);
        break;
    case 1:
        ki_json_str(json, "a", ki_str_from(LONG "\n\x01"));
        break;
    case 2:
        ki_json_base64(json, "a", ki_str_from(LONG));
        break;
    case 3:
        ki_json_int64(json, LONG, INT64_MIN);
        break;
    case 4:
        ki_json_uint64(json, LONG, UINT64_MAX);
        break;
    case 5:
        ki_json_double(json, LONG, 0.1);
        break;
    case 6:
        ki_json_bool(json, LONG, true);
        break;
    case 7:
        ki_json_null(json, LONG);
        break;
    case 8:
        ki_json_time(json, LONG, 1);
        break;
    default:
        ki_json_micro_time(json, LONG, 1);
    }
}

static void write_one(ki_json *json, size_t which)
{
    ki_value values[2] = {ki_object_root(pods[0]), ki_object_root(pods[1])};
    ki_value key = {0};
    ki_value value = {0};
    ki_value_iter iter;
    switch (which) {
    case 10:
    case 11:
        ki_json_value(json, "a", &values[which - 10]);
        break;
    case 12:
    case 13:
        assert_int_equal(ki_value_iter_begin(&values[which - 12], &iter), 0);
        while (ki_value_iter_next(&iter, &key, &value) > 0) {
            ki_json_member(json, &key, &value);
        }
        break;
    case 14:
        ki_json_raw(json, "a", "{\"a\":\"" LONG "\"}");
        break;
    case 15:
        ki_json_begin_list(json, "a");
        ki_json_owner_reference(json, pods[1], true);
        ki_json_end(json);
        break;
    case 16:
        ki_json_format(json, "a", "{%s: ['%s', %d, %g, %hhd]}", LONG, LONG, 1, 0.5, true);
        break;
    case 17:
        ki_json_name(json, ki_str_from(LONG LONG));
        ki_json_begin_map(json, NULL);
        ki_json_end(json);
        break;
    case 18:
        ki_json_string(json, LONG, "");
        ki_json_reset(json);
        ki_json_begin_map(json, NULL);
        ki_json_string(json, LONG, LONG LONG);
        break;
    case 19:
        for (int i = 0; i < 100; i++) {
            ki_json_begin_map(json, "a");
        }
        for (int i = 0; i < 100; i++) {
            ki_json_end(json);
        }
        break;
    default:
        write_scalar(json, which);
    }
}

static int write_scenario(const ki_alloc *alloc, void *user)
{
    ki_json *json = NULL;
    ki_object *object = NULL;
    ki_str text = {0};
    ki_error error = KI_ERROR_INIT;
    int r = ki_json_new(KI_OPTIONS(ki_json_options, .alloc = alloc), &json, &error);
    if (r < 0) {
        assert_true(json == NULL && error.code == r);
        return r;
    }
    ki_json_begin_map(json, NULL);
    write_one(json, *(const size_t *)user);
    ki_json_end(json);
    r = ki_json_text(json, &text, &error);
    assert_true((r == 0) == (text.ptr != NULL) && (r == 0 || error.code == r));
    r = r < 0 ? r : ki_json_object(json, &object, &error);
    assert_true((r == 0) == (object != NULL) && (r == 0 || error.code == r));
    ki_object_unref(object);
    (void)ki_json_unref(json);
    return r;
}

static void writers_may_run_out_of_memory(void **state)
{
    (void)state;
    for (size_t i = 0; i < WRITES; i++) {
        test_alloc_sweep(write_scenario, &i);
    }
}

/* ---- ki_edit ---- */

enum { EDITS = 21 };

static void edit_metadata(ki_edit *edit, size_t which)
{
    switch (which) {
    case 10:
        ki_edit_set_label(edit, LONG, LONG);
        break;
    case 11:
        ki_edit_remove_label(edit, "a");
        break;
    case 12:
        ki_edit_set_annotation(edit, LONG, "b");
        break;
    case 13:
        ki_edit_remove_annotation(edit, "a");
        break;
    case 14:
        ki_edit_add_finalizer(edit, LONG);
        break;
    case 15:
        ki_edit_remove_finalizer(edit, "f");
        break;
    case 16:
        ki_edit_add_owner(edit, pods[1], true);
        break;
    case 17:
        ki_edit_remove_owner(edit, "v");
        break;
    case 18:
        ki_edit_merge_json(edit, ki_str_from("{\"kind\":\"Pod\",\"spec\":{\"containers\":["
                                             "{\"name\":\"d\",\"x\":[null,{}]}]}}"));
        break;
    case 19:
        ki_edit_merge_format(edit, "{metadata: {labels: {%s: %s}}, list: [%d]}", LONG, LONG, 1);
        break;
    default:
        ki_edit_set_condition(edit, KI_OPTIONS(ki_condition, .type = LONG, .status = "False",
                                               .reason = LONG, .message = LONG,
                                               .observed_generation = 7, .transition_time_ns = 1));
    }
}

static void edit_one(ki_edit *edit, size_t which)
{
    ki_value root = ki_object_root(pods[1]);
    switch (which) {
    case 0:
        ki_edit_set_string(edit, "a.b.c", LONG);
        break;
    case 1:
        ki_edit_set_int64(edit, "['" LONG "'].x", 1);
        break;
    case 2:
        ki_edit_set_bool(edit, "a", true);
        break;
    case 3:
        ki_edit_set_json(edit, "a.b", ki_str_from("{\"\\u0061\":[1,{}]}"));
        break;
    case 4:
        ki_edit_set_value(edit, "a.b", &root);
        break;
    case 5:
        ki_edit_remove(edit, "spec.containers[name=d]");
        break;
    case 6:
        ki_edit_append_string(edit, "spec.more", LONG);
        break;
    case 7:
        ki_edit_append_json(edit, "spec.more", ki_str_from("[[]]"));
        break;
    case 8:
        ki_edit_append_value(edit, "spec.more", &root);
        break;
    case 9:
        ki_edit_remove_string(edit, "spec.containers[0].args", "y");
        break;
    default:
        edit_metadata(edit, which);
    }
}

typedef struct edit_case {
    size_t which;
    const ki_object *object;
    bool lock;
} edit_case;

/* A patch; 0 or a failure. */
static int patch_of(int r, const ki_buf *patch)
{
    assert_true(r == 0 || r == 1 || (r < 0 && patch->len == 0));
    return r < 0 ? r : 0;
}

static int edit_scenario(const ki_alloc *alloc, void *user)
{
    const edit_case *c = user;
    ki_edit *edit = NULL;
    ki_object *edited = NULL;
    ki_error error = KI_ERROR_INIT;
    ki_buf patch;
    int r =
        ki_edit_new(c->object, KI_OPTIONS(ki_edit_options, .alloc = alloc, .lock_version = c->lock),
                    &edit, &error);
    if (r < 0) {
        assert_true(edit == NULL && error.code == r);
        return r;
    }
    ki_buf_init(&patch, alloc, 1 << 16);
    edit_one(edit, c->which);
    r = ki_edit_object(edit, &edited, &error);
    assert_true((r == 0) == (edited != NULL) && (r == 0 || error.code == r));
    r = r < 0 ? r : patch_of(ki_edit_merge_patch(edit, &patch, NULL), &patch);
    ki_buf_clear(&patch);
    if (r == 0 && c->object != NULL) {
        r = patch_of(ki_edit_json_patch(edit, &patch, NULL), &patch);
    }
    ki_buf_done(&patch);
    ki_object_unref(edited);
    (void)ki_edit_unref(edit);
    return r;
}

static void edits_may_run_out_of_memory(void **state)
{
    (void)state;
    for (size_t i = 0; i < EDITS; i++) {
        for (size_t from = 0; from < 3; from++) {
            edit_case c = {.which = i, .object = from < 2 ? pods[from] : NULL, .lock = from == 1};
            if (i != 16 || from != 2) { /* an owner in a namespace needs one */
                test_alloc_sweep(edit_scenario, &c);
            }
        }
    }
}

/* ---- patches ---- */

typedef struct merge_case {
    const ki_object *object;
    ki_patch_type type;
    const char *patch;
} merge_case;

static const merge_case merges[] = {
    {NULL, KI_PATCH_MERGE, "{\"spec\":{\"\\u0061\":{\"b\":null}},\"status\":null}"},
    {NULL, KI_PATCH_STRATEGIC,
     "{\"metadata\":{\"$setElementOrder/finalizers\":[\"x\",\"f\"],\"finalizers\":[\"x\"]},"
     "\"spec\":{\"$setElementOrder/containers\":[{\"name\":\"d\"},{\"name\":\"c\"}],"
     "\"containers\":[{\"$retainKeys\":[\"name\",\"image\"],\"name\":\"c\",\"image\":\"j\"}]}}"},
    {NULL, KI_PATCH_STRATEGIC,
     "{\"metadata\":{\"$deleteFromPrimitiveList/finalizers\":[\"f\"],\"labels\":{\"$patch\":"
     "\"replace\",\"x\":\"y\"}},\"spec\":{\"containers\":[{\"$patch\":\"replace\"},{\"name\":"
     "\"z\",\"env\":[{\"name\":\"e\",\"x\":{\"y\":null}}]}]},\"new\":{\"a\":[{\"b\":null}]}}"},
    {NULL, KI_PATCH_JSON,
     "[{\"op\":\"test\",\"path\":\"/spec/containers/-1/name\",\"value\":\"d\"},"
     "{\"op\":\"copy\",\"from\":\"/spec\",\"path\":\"/copy\"},"
     "{\"op\":\"move\",\"from\":\"/copy/containers\",\"path\":\"/list\"},"
     "{\"op\":\"remove\",\"path\":\"/list/0\"},{\"op\":\"replace\",\"path\":\"/x\",\"value\":{}}]"},
};

static int merge_scenario(const ki_alloc *alloc, void *user)
{
    const merge_case *c = user;
    ki_object *merged = NULL;
    ki_error error = KI_ERROR_INIT;
    int r = ki_object_merge(c->object, c->type, ki_str_from(c->patch),
                            KI_OPTIONS(ki_object_options, .alloc = alloc), &merged, &error);
    assert_true((r == 0) == (merged != NULL) && error.code == r);
    ki_object_unref(merged);
    return r;
}

/* Both pods, the one merged into the other. */
static int merge_value_scenario(const ki_alloc *alloc, void *user)
{
    const ki_object *const *objects = user;
    ki_value patch = ki_object_root(objects[1]);
    ki_object *merged = NULL;
    int r = ki_object_merge_value(objects[0], KI_PATCH_STRATEGIC, &patch,
                                  KI_OPTIONS(ki_object_options, .alloc = alloc), &merged, NULL);
    assert_true((r == 0) == (merged != NULL));
    ki_object_unref(merged);
    return r;
}

static void merges_may_run_out_of_memory(void **state)
{
    (void)state;
    const ki_object *swapped[] = {pods[1], pods[0]};
    for (size_t i = 0; i < sizeof(merges) / sizeof(merges[0]); i++) {
        for (size_t from = 0; from < 2; from++) {
            merge_case c = merges[i];
            c.object = pods[from];
            test_alloc_sweep(merge_scenario, &c);
        }
    }
    test_alloc_sweep(merge_value_scenario, pods);
    test_alloc_sweep(merge_value_scenario, swapped);
}

/* ---- differences ---- */

static int diff_scenario(const ki_alloc *alloc, void *user)
{
    const ki_object *const *objects = user;
    static const char *const skip[] = {"metadata.labels", "status.conditions[type=Ready]"};
    ki_diff *diff = NULL;
    ki_buf patch;
    ki_error error = KI_ERROR_INIT;
    ki_buf_init(&patch, alloc, 1 << 16);
    int r = ki_object_diff(
        objects[0], objects[1],
        KI_OPTIONS(ki_diff_options, .alloc = alloc, .skip = skip, .skip_count = 2), &diff, &error);
    assert_true((r == 0) == (diff != NULL) && error.code == r);
    r = r < 0 ? r : patch_of(ki_object_merge_patch(objects[0], objects[1], &patch, NULL), &patch);
    (void)ki_diff_unref(diff);
    ki_buf_done(&patch);
    return r;
}

static void differences_may_run_out_of_memory(void **state)
{
    (void)state;
    ki_object *other = test_object(
        NULL, "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'\\u0070','labels':{'x':'" LONG
              "'}},'spec':{'containers':[{'name':'d','image':'\\u0069'},{'name':'c','args':[]}],"
              "'\\u0061b':"
              "{'" LONG "':[1]}}}");
    for (size_t i = 0; i < 2; i++) {
        const ki_object *there[] = {pods[i], other};
        const ki_object *back[] = {other, pods[i]};
        test_alloc_sweep(diff_scenario, there);
        test_alloc_sweep(diff_scenario, back);
    }
    ki_object_unref(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writers_may_run_out_of_memory),
        cmocka_unit_test(edits_may_run_out_of_memory),
        cmocka_unit_test(merges_may_run_out_of_memory),
        cmocka_unit_test(differences_may_run_out_of_memory),
    };
    return cmocka_run_group_tests(tests, make_pods, drop_pods);
}
