/* SPDX-License-Identifier: Apache-2.0 */
/* Edits. Text is written with ' for ". */
#include <errno.h>
#include <string.h>

#include <kinformer/clock.h>
#include <kinformer/diff.h>
#include <kinformer/edit.h>
#include <kinformer/encoding.h>
#include <kinformer/kinds.h>
#include <kinformer/merge.h>
#include <kinformer/path.h>

#include "support/golden.h"
#include "support/objects.h"
#include "support/random_json.h"
#include "support/same_value.h"
#include "support/test.h"

#define POD                                                                                    \
    "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'a','namespace':'n','uid':'u',"        \
    "'resourceVersion':'5','finalizers':['x','y']},'spec':{'containers':[{'name':'a','image':" \
    "'1'},{'name':'b c','image':'2'}]},'status':null}"

#define SECOND INT64_C(1000000000)

static ki_edit *edit_of(const char *json)
{
    ki_edit *edit = NULL;
    ki_object *object = json != NULL ? test_object(NULL, json) : NULL;
    assert_int_equal(ki_edit_new(object, NULL, &edit, NULL), 0);
    ki_object_unref(object); /* the edit keeps it */
    return edit;
}

static void expect_text(ki_buf *text, const char *expected)
{
    for (size_t i = 0; i < text->len; i++) {
        text->data[i] = (char)(text->data[i] == '"' ? '\'' : text->data[i]);
    }
    assert_string_equal(ki_buf_text(text), expected);
    ki_buf_done(text);
}

/* Ends an edit whose merge patch must be this. */
static void expect_patch(ki_edit *edit, const char *expected)
{
    ki_buf patch;
    ki_error error = KI_ERROR_INIT;
    ki_buf_init(&patch, NULL, 4096);
    int r = ki_edit_merge_patch(edit, &patch, &error);
    if (r < 0) {
        fail_msg("%s", error.message);
    }
    assert_int_equal(r, strcmp(expected, "{}") != 0);
    expect_text(&patch, expected);
    assert_null(ki_edit_unref(edit));
}

/* Ends an edit that must have failed: all results do. */
static void expect_error(ki_edit *edit, int code, const char *message)
{
    ki_buf patch;
    ki_object *object = NULL;
    ki_error error = KI_ERROR_INIT;
    ki_edit_set_label(edit, "later", "ignored");
    ki_buf_init(&patch, NULL, 4096);
    assert_int_equal(ki_edit_merge_patch(edit, &patch, &error), code);
    for (char *p = error.message; (p = strchr(p, '"')) != NULL; p++) {
        *p = '\'';
    }
    assert_string_equal(error.message, message);
    assert_int_equal(ki_edit_json_patch(edit, &patch, NULL), code);
    assert_int_equal(ki_edit_object(edit, &object, NULL), code);
    assert_null(object);
    assert_int_equal(patch.len, 0);
    ki_buf_done(&patch);
    ki_edit_unref(edit);
}

static void values_are_set_by_path(void **state)
{
    (void)state;
    ki_edit *edit = edit_of(POD);
    ki_object *other = test_object(NULL, "{'x':{'y':[1,{'z':null}]}}");
    ki_value root = ki_object_root(other);
    ki_edit_set_string(edit, "spec.nodeName", "n\"1\n");
    ki_edit_set_int64(edit, ".status.count", INT64_MIN);
    ki_edit_set_bool(edit, "{.spec['host.net/x']}", true);
    ki_edit_set_json(edit, "spec.a.b", ki_str_from(" [ 1 , {} ] "));
    ki_edit_set_value(edit, "spec.other", &root);
    ki_object_unref(other);
    expect_patch(edit, "{'spec':{'nodeName':'n\\'1\\n','host.net/x':true,'a':{'b':[1,{}]},"
                       "'other':{'x':{'y':[1,{'z':null}]}}},'status':{'count':"
                       "-9223372036854775808}}");
}

static void elements_are_set_and_removed(void **state)
{
    (void)state;
    ki_edit *edit = edit_of("{'l':[{'name':'a','i':1},{'name':'b c','i':2},3],'s':['x','y','x']}");
    ki_edit_set_int64(edit, "l[name='b c'].i", 7);
    ki_edit_set_int64(edit, "l[-1]", 4);
    ki_edit_set_bool(edit, "l[?(@.name==\"a\")].j", false);
    ki_edit_append_string(edit, "l", "end");
    ki_edit_append_json(edit, "new.list", ki_str_from("{\"k\":1}"));
    ki_edit_remove_string(edit, "s", "x");
    ki_edit_remove_string(edit, "none", "x");
    expect_patch(edit, "{'l':[{'name':'a','i':1,'j':false},{'name':'b c','i':7},4,'end'],"
                       "'s':['y'],'new':{'list':[{'k':1}]}}");
    edit = edit_of("{'l':[{'name':'a'},{'name':'b'},{'name':'c'}],'m':{'a':1,'b':2}}");
    ki_edit_remove(edit, "l[name=b]");
    ki_edit_remove(edit, "l[0]");
    ki_edit_remove(edit, "l[5]");
    ki_edit_remove(edit, "m.a");
    ki_edit_remove(edit, "m.x.y.z");
    expect_patch(edit, "{'l':[{'name':'c'}],'m':{'a':null}}");
}

static void nothing_changed_is_no_patch(void **state)
{
    (void)state;
    ki_buf patch;
    ki_edit *edit = edit_of(POD);
    ki_edit_set_string(edit, "spec.containers[0].image", "1");
    ki_edit_add_finalizer(edit, "y");
    ki_edit_set_int64(edit, "x.y", 1);
    ki_edit_remove(edit, "x");
    ki_buf_init(&patch, NULL, 4096);
    assert_int_equal(ki_edit_json_patch(edit, &patch, NULL), 0);
    assert_string_equal(ki_buf_text(&patch), "[]");
    ki_buf_done(&patch);
    expect_patch(edit, "{}");
}

static void a_json_patch_tests_the_version(void **state)
{
    (void)state;
    ki_buf patch;
    ki_edit *edit = edit_of(POD);
    ki_edit_set_label(edit, "a/b~c", "1");
    ki_edit_remove_finalizer(edit, "x");
    ki_edit_remove(edit, "spec");
    ki_buf_init(&patch, NULL, 4096);
    assert_int_equal(ki_edit_json_patch(edit, &patch, NULL), 1);
    ki_object *object = test_object(NULL, POD);
    ki_object *merged = NULL;
    ki_object *edited = NULL;
    assert_int_equal(
        ki_object_merge(object, KI_PATCH_JSON, ki_buf_str(&patch), NULL, &merged, NULL), 0);
    assert_int_equal(ki_edit_object(edit, &edited, NULL), 0);
    assert_true(ki_str_eq(ki_object_bytes(merged), ki_object_bytes(edited)));
    expect_text(&patch, "[{'op':'test','path':'/metadata/resourceVersion','value':'5'},"
                        "{'op':'replace','path':'/metadata/finalizers','value':['y']},"
                        "{'op':'add','path':'/metadata/labels','value':{'a/b~c':'1'}},"
                        "{'op':'remove','path':'/spec'}]");
    ki_edit_unref(edit);
    ki_object_unref(object);
    ki_object_unref(merged);
    ki_object_unref(edited);
    edit = edit_of("{'metadata':{'labels':{'x':'1'}}}");
    ki_buf_init(&patch, NULL, 4096);
    assert_int_equal(ki_edit_json_patch(edit, &patch, NULL), KI_ERR_INVALID);
    ki_edit_unref(edit);
}

static void a_merge_patch_may_lock_the_version(void **state)
{
    (void)state;
    const ki_edit_options options = {.size = sizeof(options), .lock_version = true};
    ki_object *object = test_object(NULL, POD);
    ki_object *bare = test_object(NULL, "{}");
    ki_edit *edit = NULL;
    assert_int_equal(ki_edit_new(object, &options, &edit, NULL), 0);
    ki_edit_remove(edit, "spec");
    expect_patch(edit, "{'spec':null,'metadata':{'resourceVersion':'5'}}");
    assert_int_equal(ki_edit_new(object, &options, &edit, NULL), 0);
    ki_edit_remove(edit, "metadata.finalizers");
    expect_patch(edit, "{'metadata':{'finalizers':null,'resourceVersion':'5'}}");
    assert_int_equal(ki_edit_new(object, &options, &edit, NULL), 0);
    expect_patch(edit, "{}");
    assert_int_equal(ki_edit_new(bare, &options, &edit, NULL), 0);
    ki_edit_set_label(edit, "a", "b");
    ki_buf patch;
    ki_buf_init(&patch, NULL, 4096);
    assert_int_equal(ki_edit_merge_patch(edit, &patch, NULL), KI_ERR_INVALID);
    ki_edit_unref(edit);
    ki_object_unref(object);
    ki_object_unref(bare);
}

static void labels_annotations_and_finalizers(void **state)
{
    (void)state;
    ki_edit *edit = edit_of("{'metadata':{'labels':{'a':'1','b':'2'},'annotations':null}}");
    ki_edit_set_label(edit, "a.b/c", "3");
    ki_edit_set_label(edit, "a", "4");
    ki_edit_remove_label(edit, "b");
    ki_edit_remove_label(edit, "none");
    ki_edit_set_annotation(edit, "n", "");
    ki_edit_remove_annotation(edit, "m");
    ki_edit_add_finalizer(edit, "f");
    ki_edit_add_finalizer(edit, "f");
    ki_edit_add_finalizer(edit, "g");
    ki_edit_remove_finalizer(edit, "g");
    expect_patch(edit, "{'metadata':{'labels':{'a':'4','a.b/c':'3','b':null},"
                       "'annotations':{'n':''},'finalizers':['f']}}");
    edit = edit_of(NULL);
    ki_edit_remove_label(edit, "x");
    ki_edit_remove_finalizer(edit, "x");
    ki_edit_remove_owner(edit, "x");
    expect_patch(edit, "{}");
}

#define OWNER(version, uid)                                                               \
    "{'apiVersion':'example.com/" version "','kind':'Site','metadata':{'name':'s','uid':" \
    "'" uid "','namespace':'n'}}"

static void owners_are_unique(void **state)
{
    (void)state;
    ki_object *old = test_object(NULL, OWNER("v1", "1"));
    ki_object *owner = test_object(NULL, OWNER("v2", "2"));
    ki_object *rival = test_object(NULL, POD);
    ki_edit *edit = edit_of("{'metadata':{'name':'c','namespace':'n'}}");
    ki_edit_add_owner(edit, old, false);
    ki_edit_add_owner(edit, rival, false);
    ki_edit_add_owner(edit, owner, true); /* replaces the old one */
    ki_edit_remove_owner(edit, "u");
    expect_patch(edit, "{'metadata':{'ownerReferences':[{'apiVersion':'example.com/v2','kind':"
                       "'Site','name':'s','uid':'2','controller':true,"
                       "'blockOwnerDeletion':true}]}}");
    /* However the reference is spelt. */
    edit = edit_of("{'metadata':{'name':'c','namespace':'n','ownerReferences':[{'apiVersion':"
                   "'example.com\\/v1','kind':'S\\u0069te','name':'s','uid':'1'}]}}");
    ki_edit_add_owner(edit, owner, false);
    expect_patch(edit, "{'metadata':{'ownerReferences':[{'apiVersion':'example.com/v2','kind':"
                       "'Site','name':'s','uid':'2'}]}}");
    edit = edit_of("{'metadata':{'name':'c','namespace':'n'}}");
    ki_edit_add_owner(edit, owner, true);
    ki_edit_add_owner(edit, rival, true);
    expect_error(edit, KI_ERR_EXISTS,
                 "metadata.ownerReferences: n/c already has another controller");
    edit = edit_of("{'metadata':{'name':'c','namespace':'m'}}");
    ki_edit_add_owner(edit, owner, true);
    expect_error(edit, KI_ERR_INVALID,
                 "metadata.ownerReferences: owner Site n/s is in another namespace");
    edit = edit_of("{'metadata':{'name':'c'}}");
    ki_object_unref(old);
    old = test_object(NULL, "{'kind':'Site','metadata':{'name':'s'}}");
    ki_edit_add_owner(edit, old, false);
    expect_error(edit, KI_ERR_INVALID,
                 "metadata.ownerReferences: owner Site s has no apiVersion, kind, name or uid");
    ki_object_unref(old);
    ki_object_unref(owner);
    ki_object_unref(rival);
}

static int64_t at_noon(void *user)
{
    return *(int64_t *)user * SECOND + 5;
}

static void conditions_keep_their_time_with_their_status(void **state)
{
    (void)state;
    int64_t now = 1800000000;
    const ki_clock clock = {.realtime_ns = at_noon, .user = &now};
    const ki_edit_options options = {.size = sizeof(options), .clock = &clock};
    ki_object *object = test_object(NULL, "{'metadata':{'name':'a'}}");
    ki_object *ready = NULL;
    ki_edit *edit = NULL;
    assert_int_equal(ki_edit_new(object, &options, &edit, NULL), 0);
    ki_edit_set_condition(edit,
                          KI_OPTIONS(ki_condition, .type = "Ready", .status = "True", .reason = "R",
                                     .message = "m", .observed_generation = 3));
    assert_int_equal(ki_edit_object(edit, &ready, NULL), 0);
    assert_true(ki_object_condition_is_true(ready, "Ready"));
    expect_patch(edit, "{'status':{'conditions':[{'type':'Ready','status':'True',"
                       "'lastTransitionTime':'2027-01-15T08:00:00Z','reason':'R','message':'m',"
                       "'observedGeneration':3}]}}");
    now += 60;
    assert_int_equal(ki_edit_new(ready, &options, &edit, NULL), 0);
    ki_edit_set_condition(edit, KI_OPTIONS(ki_condition, .type = "Ready", .status = "True",
                                           .reason = "R", .observed_generation = 3));
    expect_patch(edit, "{}");
    assert_int_equal(ki_edit_new(ready, NULL, &edit, NULL), 0);
    ki_edit_set_condition(edit, KI_OPTIONS(ki_condition, .type = "Ready", .status = "False",
                                           .transition_time_ns = now * SECOND));
    ki_edit_set_condition(edit, KI_OPTIONS(ki_condition, .type = "New", .status = "Unknown",
                                           .transition_time_ns = SECOND));
    expect_patch(edit, "{'status':{'conditions':[{'type':'Ready','status':'False',"
                       "'lastTransitionTime':'2027-01-15T08:01:00Z','reason':'R','message':'m',"
                       "'observedGeneration':3},{'type':'New','status':'Unknown',"
                       "'lastTransitionTime':'1970-01-01T00:00:01Z'}]}}");
    /* A time that is null is missing. */
    edit = edit_of("{'status':{'conditions':[{'type':'A','status':'True',"
                   "'lastTransitionTime':null}]}}");
    ki_edit_set_condition(edit, KI_OPTIONS(ki_condition, .type = "A", .status = "True",
                                           .transition_time_ns = SECOND));
    expect_patch(edit, "{'status':{'conditions':[{'type':'A','status':'True',"
                       "'lastTransitionTime':'1970-01-01T00:00:01Z'}]}}");
    edit = edit_of(NULL);
    ki_edit_set_condition(edit, KI_OPTIONS(ki_condition, .type = "A", .status = "True"));
    expect_error(edit, KI_ERR_INVALID,
                 "condition A: requires transition_time_ns or the option clock");
    edit = edit_of(NULL);
    ki_edit_set_condition(edit, KI_OPTIONS(ki_condition, .type = "A"));
    expect_error(edit, -EINVAL, "status: must not be NULL");
    ki_object_unref(object);
    ki_object_unref(ready);
}

/* ---- failures ---- */

static void invalid_paths_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        int code;
        const char *message;
    } cases[] = {
        {"spec..x", KI_ERR_INVALID,
         "path 'spec..x': must have members, indexes and [key=value] only, and at least one of "
         "them"},
        {".", KI_ERR_INVALID,
         "path '.': must have members, indexes and [key=value] only, and at least one of them"},
        {"spec[", KI_ERR_SYNTAX,
         "path 'spec[': expected an index, a slice, a name in quotes or '*', but the path ends"},
        {"spec.\xae", KI_ERR_SYNTAX, "path 'spec.?': not valid UTF-8"},
        {"kind.x", KI_ERR_TYPE, "path 'kind.x': step 2 leads into a string, not a map"},
        {"spec[0]", KI_ERR_TYPE, "path 'spec[0]': step 2 leads into a map, not a list"},
        {"spec.containers.x", KI_ERR_TYPE,
         "path 'spec.containers.x': step 3 leads into a list, not a map"},
        {"spec.containers[2]", KI_ERR_NOT_FOUND,
         "path 'spec.containers[2]': the list has no such element"},
        {"spec.containers[name=z].image", KI_ERR_NOT_FOUND,
         "path 'spec.containers[name=z].image': the list has no such element"},
        {NULL, -EINVAL, "path: must not be NULL"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ki_edit *edit = edit_of(POD);
        ki_edit_set_bool(edit, cases[i].path, true);
        expect_error(edit, cases[i].code, cases[i].message);
    }
}

static void invalid_values_are_refused(void **state)
{
    (void)state;
    const ki_value none = {0};
    ki_edit *edit = edit_of(POD);
    ki_edit_set_json(edit, "spec.x", ki_str_from("{"));
    ki_error error = KI_ERROR_INIT;
    ki_object *object = NULL;
    assert_int_equal(ki_edit_object(edit, &object, &error), KI_ERR_SYNTAX);
    assert_memory_equal(error.message, "path \"spec.x\": ", 15);
    assert_int_equal(error.offset, 1);
    ki_edit_unref(edit);
    edit = edit_of(POD);
    ki_edit_set_value(edit, "spec.x", &none);
    expect_error(edit, KI_ERR_INVALID, "path 'spec.x': no value to set");
    edit = edit_of(POD);
    ki_edit_set_value(edit, "spec.x", NULL);
    expect_error(edit, -EINVAL, "value: must not be NULL");
    edit = edit_of(POD);
    ki_edit_set_string(edit, "spec.x", NULL);
    expect_error(edit, -EINVAL, "text: must not be NULL");
    edit = edit_of(POD);
    ki_edit_append_string(edit, "spec", "x");
    expect_error(edit, KI_ERR_TYPE, "path 'spec': does not lead to a list");
    edit = edit_of(POD);
    ki_edit_remove_string(edit, "spec", "x");
    expect_error(edit, KI_ERR_TYPE, "path 'spec': does not lead to a list");
    edit = edit_of("{'metadata':{'name':'a'},'status':7}");
    ki_edit_set_condition(edit, KI_OPTIONS(ki_condition, .type = "A", .status = "True",
                                           .transition_time_ns = SECOND));
    expect_error(edit, KI_ERR_TYPE, "status: is a number, not a map");
    edit = edit_of(POD);
    ki_edit_set_int64(edit, "metadata.name", 1);
    assert_int_equal(ki_edit_object(edit, &object, &error), KI_ERR_INVALID);
    assert_string_equal(error.message,
                        "edited object: metadata.name must be a string, not a number");
    ki_edit_unref(edit);
}

static void limits_hold(void **state)
{
    (void)state;
    const ki_edit_options options = {.size = sizeof(options), .max_bytes = 64};
    ki_object *object = NULL;
    ki_edit *edit = NULL;
    assert_int_equal(ki_edit_new(NULL, &options, &edit, NULL), 0);
    for (size_t i = 0; i < 20; i++) {
        ki_edit_append_string(edit, "list", "12345");
    }
    assert_int_equal(ki_edit_object(edit, &object, NULL), KI_ERR_LIMIT);
    ki_edit_unref(edit);
    ki_buf deep;
    ki_buf_init(&deep, NULL, 4096);
    test_add(&deep, "[", 127);
    test_add(&deep, "]", 127);
    edit = edit_of(NULL);
    ki_edit_set_json(edit, "a.b", ki_buf_str(&deep));
    assert_int_equal(ki_edit_object(edit, &object, NULL), KI_ERR_DEPTH);
    ki_edit_unref(edit);
    ki_buf_done(&deep);
}

/* ---- properties ---- */

/* A path to some value of an object: that of a change from another object to it. */
static void check_set(const ki_object *object, const ki_diff_change *change, uint64_t number)
{
    ki_edit *edit = NULL;
    ki_object *edited = NULL;
    ki_path *path = NULL;
    ki_value value;
    ki_error error = KI_ERROR_INIT;
    int64_t found;
    assert_int_equal(ki_edit_new(object, NULL, &edit, NULL), 0);
    ki_edit_set_int64(edit, change->path, (int64_t)number);
    if (ki_edit_object(edit, &edited, &error) < 0) {
        fail_msg("%s", error.message);
    }
    assert_int_equal(ki_path_compile(change->path, NULL, &path, NULL), 0);
    assert_int_equal(ki_object_get(edited, path, &value), 0);
    assert_int_equal(ki_value_int64(&value, &found), 0);
    assert_int_equal(found, number);
    const ki_diff_options options = {
        .size = sizeof(options), .skip = &change->path, .skip_count = 1};
    ki_diff *diff = NULL;
    assert_int_equal(ki_object_diff(object, edited, &options, &diff, NULL), 0);
    if (ki_diff_count(diff) != 0) { /* a list that is compared as a whole has no path below */
        assert_int_equal(ki_diff_count(diff), 1);
        assert_memory_equal(ki_diff_at(diff, 0)->path, change->path,
                            strlen(ki_diff_at(diff, 0)->path));
    }
    ki_diff_unref(diff);
    ki_path_unref(path);
    ki_edit_unref(edit);
    ki_object_unref(edited);
}

static void an_edit_changes_what_it_sets_and_nothing_else(void **state)
{
    (void)state;
    size_t count = 0;
    for (uint64_t seed = 1; seed <= 150; seed++) {
        ki_object *object = random_json_object(seed, 0, true);
        ki_object *other = random_json_object(seed, seed * 17, true);
        ki_diff *diff = NULL;
        assert_int_equal(ki_object_diff(other, object, NULL, &diff, NULL), 0);
        for (size_t i = 0; i < ki_diff_count(diff); i++) {
            if (ki_diff_at(diff, i)->type != KI_DIFF_REMOVED) {
                check_set(object, ki_diff_at(diff, i), seed * 1000 + i);
                count++;
            }
        }
        ki_diff_unref(diff);
        ki_object_unref(object);
        ki_object_unref(other);
    }
    assert_true(count > 200);
}

static void check_record(const golden_record *record, void *user)
{
    (void)user;
    ki_object *object = NULL;
    ki_object *edited = NULL;
    ki_edit *edit = NULL;
    ki_diff *diff = NULL;
    assert_int_equal(
        ki_object_from_protobuf(record->protobuf.ptr, record->protobuf.len, NULL, &object, NULL),
        0);
    assert_int_equal(ki_edit_new(object, NULL, &edit, NULL), 0);
    assert_int_equal(ki_edit_object(edit, &edited, NULL), 0);
    assert_int_equal(ki_object_diff(object, edited, NULL, &diff, NULL), 0);
    assert_int_equal(ki_diff_count(diff), 0);
    ki_diff_unref(diff);
    ki_object_unref(edited);
    ki_edit_set_annotation(edit, "example.com/edited", "yes");
    assert_int_equal(ki_edit_object(edit, &edited, NULL), 0);
    ki_value value = ki_object_annotation(edited, "example.com/edited");
    assert_true(ki_value_equals_text(&value, "yes"));
    assert_int_equal(ki_object_diff(object, edited, NULL, &diff, NULL), 0);
    assert_int_equal(ki_diff_count(diff), 1);
    assert_memory_equal(ki_diff_at(diff, 0)->path, "metadata", 8);
    ki_diff_unref(diff);
    ki_edit_unref(edit);
    ki_object_unref(edited);
    ki_object_unref(object);
}

static void protobuf_is_edited_as_json(void **state)
{
    (void)state;
    assert_true(golden_each(TEST_DATA_DIR "/protobuf", check_record, NULL) > 2000);
}

/* ---- memory ---- */

static int scenario(const ki_alloc *alloc, void *user)
{
    const ki_object *object = user;
    const ki_edit_options options = {.size = sizeof(options), .alloc = alloc, .lock_version = true};
    ki_edit *edit = NULL;
    ki_object *edited = NULL;
    ki_buf patch;
    ki_buf_init(&patch, alloc, 4096);
    int r = ki_edit_new(object, &options, &edit, NULL);
    if (r == 0) {
        ki_edit_set_label(edit, "a", "b");
        ki_edit_add_finalizer(edit, "f");
        ki_edit_add_owner(edit, object, true);
        ki_edit_set_condition(edit, KI_OPTIONS(ki_condition, .type = "A", .status = "True",
                                               .reason = "R", .transition_time_ns = SECOND));
        ki_edit_set_json(edit, "spec.x.y", ki_str_from("{\"z\":[1]}"));
        ki_edit_append_string(edit, "spec.list", "x");
        ki_edit_remove(edit, "spec.containers[name=a]");
        r = ki_edit_object(edit, &edited, NULL);
    }
    if (r == 0) {
        r = ki_edit_merge_patch(edit, &patch, NULL);
        assert_true(r == 1 || (r < 0 && patch.len == 0));
    }
    if (r > 0) {
        ki_buf_clear(&patch);
        r = ki_edit_json_patch(edit, &patch, NULL);
        assert_true(r == 1 || (r < 0 && patch.len == 0));
    }
    ki_edit_unref(edit);
    ki_object_unref(edited);
    ki_buf_done(&patch);
    return r < 0 ? r : 0;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    ki_object *object = test_object(NULL, POD);
    test_alloc_sweep(scenario, object);
    ki_object_unref(object);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_set_by_path),
        cmocka_unit_test(elements_are_set_and_removed),
        cmocka_unit_test(nothing_changed_is_no_patch),
        cmocka_unit_test(a_json_patch_tests_the_version),
        cmocka_unit_test(a_merge_patch_may_lock_the_version),
        cmocka_unit_test(labels_annotations_and_finalizers),
        cmocka_unit_test(owners_are_unique),
        cmocka_unit_test(conditions_keep_their_time_with_their_status),
        cmocka_unit_test(invalid_paths_are_named),
        cmocka_unit_test(invalid_values_are_refused),
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(an_edit_changes_what_it_sets_and_nothing_else),
        cmocka_unit_test(protobuf_is_edited_as_json),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
