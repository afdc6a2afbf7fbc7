/* SPDX-License-Identifier: Apache-2.0 */
/* Properties of edits and patches, for objects of every built-in kind in both encodings: after a
 * random change, reads show what was set, and everything else is as it was; and both patches of an
 * edit, and the merge patch of two objects, lead from the one object to the other. KI_EDIT_ROUNDS
 * in the environment is how often each object is used, each time in other ways; 1 if it is not
 * set. */
#include <errno.h>

#include <kinformer/diff.h>
#include <kinformer/edit.h>
#include <kinformer/encoding.h>
#include <kinformer/merge.h>
#include <kinformer/path.h>

#include "support/golden.h"
#include "support/random_place.h"

static const char folder[] = TEST_DATA_DIR "/protobuf";

/* ---- objects ---- */

static uint64_t rounds(void)
{
    const char *text = getenv("KI_EDIT_ROUNDS");
    uint64_t count = text != NULL ? strtoull(text, NULL, 10) : 1;
    return count != 0 ? count : 1;
}

/* The object of a record, as JSON or protobuf. */
static ki_object *object_of(const golden_record *record, bool proto)
{
    ki_error error = KI_ERROR_INIT;
    ki_object *object = NULL;
    int r = proto ? ki_object_from_protobuf(record->protobuf.ptr, record->protobuf.len, NULL,
                                            &object, &error)
                  : ki_object_from_json(record->json.ptr, record->json.len, NULL, &object, &error);
    if (r < 0) {
        fail_msg("%.*s: %s", KI_STR_ARG(record->kind), error.message);
    }
    return object;
}

static bool same_object(const ki_object *a, const ki_object *b)
{
    ki_value left = ki_object_root(a);
    ki_value right = ki_object_root(b);
    return same_value(&left, &right, NULL);
}

/* The same in a merge patch, which takes null for nothing, but not in lists. */
static bool same_but_nulls(const ki_value *a, const ki_value *b)
{
    ki_value_iter iter;
    ki_value key;
    ki_value value;
    ki_value other;
    if (ki_value_type(a) != KI_TYPE_MAP || ki_value_type(b) != KI_TYPE_MAP) {
        return same_value(a, b, NULL);
    }
    for (size_t side = 0; side < 2; side++) {
        assert_int_equal(ki_value_iter_begin(side == 0 ? a : b, &iter), 0);
        while (ki_value_iter_next(&iter, &key, &value) > 0) {
            bool found =
                same_find(side == 0 ? b : a, &key, &other) && ki_value_type(&other) != KI_TYPE_NULL;
            bool there = ki_value_type(&value) != KI_TYPE_NULL;
            if (there != found || (there && side == 0 && !same_but_nulls(&value, &other))) {
                return false;
            }
        }
    }
    return true;
}

/* ---- an edit ---- */

typedef struct trial {
    ki_object *before;
    ki_object *other; /* to take values from */
    ki_edit *edit;
    uint64_t seed;
    char what[PLACE_PATH_MAX + 64];
    size_t changes;
} trial;

static void complain(const trial *t, const ki_object *after, const char *why)
{
    ki_buf left;
    ki_buf right;
    ki_buf_init(&left, NULL, SAME_TEXT_MAX);
    ki_buf_init(&right, NULL, SAME_TEXT_MAX);
    assert_int_equal(ki_object_write_json(t->before, &left), 0);
    if (after != NULL) {
        assert_int_equal(ki_object_write_json(after, &right), 0);
    }
    fail_msg("%s %s: %s\n%s\n%s", ki_object_kind(t->before), t->what, why, ki_buf_text(&left),
             ki_buf_text(&right));
}

static void begin(trial *t)
{
    ki_edit_options options = KI_OPTIONS_INIT(ki_edit_options);
    ki_error error = KI_ERROR_INIT;
    if (ki_edit_new(t->before, &options, &t->edit, &error) < 0) {
        fail_msg("%s", error.message);
    }
}

/* The object after the change. */
static ki_object *result(trial *t)
{
    ki_object *after = NULL;
    ki_error error = KI_ERROR_INIT;
    if (ki_edit_object(t->edit, &after, &error) < 0) {
        complain(t, NULL, error.message);
    }
    t->changes++;
    return after;
}

/* Both patches lead from the one object to the other. */
static void check_patches(trial *t, const ki_object *after)
{
    ki_buf patch;
    ki_object *made = NULL;
    ki_error error = KI_ERROR_INIT;
    ki_buf_init(&patch, NULL, SAME_TEXT_MAX);
    int r = ki_edit_merge_patch(t->edit, &patch, &error);
    r = r < 0 ? r
              : ki_object_merge(t->before, KI_PATCH_MERGE, ki_buf_str(&patch), NULL, &made, &error);
    if (r < 0) {
        complain(t, after, error.message);
    }
    ki_value left = ki_object_root(made);
    ki_value right = ki_object_root(after);
    if (!same_but_nulls(&left, &right)) {
        complain(t, made, "merge patch leads to another object");
    }
    made = ki_object_unref(made);
    ki_buf_clear(&patch);
    r = ki_edit_json_patch(t->edit, &patch, &error);
    r = r < 0 ? r
              : ki_object_merge(t->before, KI_PATCH_JSON, ki_buf_str(&patch), NULL, &made, &error);
    if (r < 0) {
        complain(t, after, error.message);
    }
    if (!same_object(made, after)) {
        complain(t, made, "JSON patch leads to another object");
    }
    ki_object_unref(made);
    ki_buf_done(&patch);
}

/* Ends an edit that has changed one place, or removed it. */
static ki_value finish(trial *t, const random_place *place, bool gone, ki_object **ret_after)
{
    ki_value value = {0};
    *ret_after = result(t);
    if (!place_same_but(t->before, *ret_after, place, gone, &value)) {
        complain(t, *ret_after, "something else has changed");
    }
    check_patches(t, *ret_after);
    return value;
}

/* ---- changes at a path ---- */

/* What is at a path must be the value, also if it is read by the path. */
static void check_value(trial *t, const ki_object *after, const char *text, const ki_value *found,
                        const ki_value *wanted)
{
    ki_path *path = NULL;
    ki_value read;
    assert_int_equal(ki_path_compile(text, NULL, &path, NULL), 0);
    if (!same_value(found, wanted, NULL) || ki_object_get(after, path, &read) < 0 ||
        !same_value(&read, wanted, NULL)) {
        complain(t, after, "another value is there");
    }
    ki_path_unref(path);
}

static void set_something(trial *t, bool is_new)
{
    random_place place = place_in(t->before, &t->seed);
    random_place from = place_in(t->other, &t->seed);
    ki_object *after = NULL;
    ki_object *holder = NULL;
    ki_value root;
    ki_value wanted = {0};
    static const char *const texts[] = {"{\"v\":\"a'\\\"\\\\b\"}", "{\"v\":-17}", "{\"v\":true}",
                                        "{\"v\":[{\"x\":null},[]]}"};
    uint64_t how = place_below(&t->seed, 5);
    if (is_new && ki_value_type(&place.value) == KI_TYPE_MAP) {
        place_to_member(&place, "new.member", false);
    }
    const char *text = texts[how % 4];
    assert_int_equal(ki_object_from_json(text, strlen(text), NULL, &holder, NULL), 0);
    root = ki_object_root(holder);
    assert_int_equal(ki_value_member(&root, ki_str_from("v"), &wanted), 0);
    (void)snprintf(t->what, sizeof(t->what), "set %d %s", (int)how, place.path);
    begin(t);
    if (how == 0) {
        ki_edit_set_string(t->edit, place.path, "a'\"\\b");
    } else if (how == 1) {
        ki_edit_set_int64(t->edit, place.path, -17);
    } else if (how == 2) {
        ki_edit_set_bool(t->edit, place.path, true);
    } else if (how == 3 || ki_value_type(&from.value) == KI_TYPE_NONE) {
        wanted = how == 3 ? wanted : root;
        ki_buf json;
        ki_buf_init(&json, NULL, SAME_TEXT_MAX);
        assert_int_equal(ki_value_write_json(&wanted, &json), 0);
        ki_edit_set_json(t->edit, place.path, ki_buf_str(&json));
        ki_buf_done(&json);
    } else {
        wanted = from.value;
        ki_edit_set_value(t->edit, place.path, &from.value);
    }
    ki_value found = finish(t, &place, false, &after);
    check_value(t, after, place.path, &found, &wanted);
    ki_object_unref(holder);
    ki_object_unref(after);
}

static void remove_something(trial *t)
{
    random_place place = place_in(t->before, &t->seed);
    ki_object *after = NULL;
    (void)snprintf(t->what, sizeof(t->what), "remove %s", place.path);
    begin(t);
    ki_edit_remove(t->edit, place.path);
    if (ki_value_type(&place.value) == KI_TYPE_NONE) { /* there was nothing */
        after = result(t);
        if (!same_object(t->before, after)) {
            complain(t, after, "removing nothing has changed something");
        }
    } else {
        (void)finish(t, &place, true, &after);
    }
    ki_object_unref(after);
}

static void append_something(trial *t)
{
    random_place place = place_in(t->before, &t->seed);
    ki_object *after = NULL;
    ki_value found;
    ki_value last;
    size_t old = 0;
    ki_type type = ki_value_type(&place.value);
    if (type == KI_TYPE_MAP) {
        place_to_member(&place, "newList", true);
        type = KI_TYPE_NONE;
    } else if (type != KI_TYPE_LIST && type != KI_TYPE_NULL && type != KI_TYPE_NONE) {
        place = place_root(t->before);
        place_to_member(&place, "otherList", false);
        type = KI_TYPE_NONE;
    }
    (void)snprintf(t->what, sizeof(t->what), "append %s", place.path);
    begin(t);
    ki_edit_append_string(t->edit, place.path, "last");
    found = finish(t, &place, false, &after);
    bool right =
        ki_value_element(&found, -1, &last) == 0 && ki_value_equals(&last, ki_str_from("last"));
    if (type == KI_TYPE_LIST) {
        old = ki_value_count(&place.value);
        for (size_t i = 0; right && i < old; i++) {
            ki_value a;
            ki_value b;
            right = ki_value_element(&place.value, (int64_t)i, &a) == 0 &&
                    ki_value_element(&found, (int64_t)i, &b) == 0 && same_value(&a, &b, NULL);
        }
    }
    if (!right || ki_value_count(&found) != old + 1) {
        complain(t, after, "not appended");
    }
    ki_object_unref(after);
}

/* ---- changes of metadata ---- */

static random_place fixed_place(const ki_object *object, const char *first, const char *second)
{
    random_place place = place_root(object);
    place_to_member(&place, first, false);
    place_to_member(&place, second, false);
    return place;
}

static bool has_metadata(const ki_object *object)
{
    random_place place = place_root(object);
    place_to_member(&place, "metadata", false);
    return ki_value_type(&place.value) == KI_TYPE_MAP;
}

static void change_entry(trial *t, bool label)
{
    random_place place = fixed_place(t->before, "metadata", label ? "labels" : "annotations");
    ki_object *after = NULL;
    char name[PLACE_NAME_MAX] = "example.com/new~name";
    random_place old = place;
    if (place_below(&t->seed, 2) == 0 && place_step_down(&old, &t->seed)) {
        (void)snprintf(name, sizeof(name), "%s", old.steps[2].name);
    }
    place_to_member(&place, name, true);
    bool gone = ki_value_type(&place.value) != KI_TYPE_NONE && place_below(&t->seed, 2) == 0;
    (void)snprintf(t->what, sizeof(t->what), "entry %s", place.path);
    begin(t);
    if (gone) {
        (label ? ki_edit_remove_label : ki_edit_remove_annotation)(t->edit, name);
    } else {
        (label ? ki_edit_set_label : ki_edit_set_annotation)(t->edit, name, "v\n");
    }
    ki_value found = finish(t, &place, gone, &after);
    if (!gone && (!ki_value_equals_text(&found, "v\n") ||
                  (label && !ki_object_label_is(after, name, "v\n")))) {
        complain(t, after, "another value is there");
    }
    ki_object_unref(after);
}

static void change_finalizers(trial *t)
{
    random_place place = fixed_place(t->before, "metadata", "finalizers");
    ki_object *after = NULL;
    ki_value last = {0};
    (void)snprintf(t->what, sizeof(t->what), "finalizers");
    begin(t);
    ki_edit_add_finalizer(t->edit, "example.com/f");
    ki_edit_add_finalizer(t->edit, "example.com/f");
    ki_value found = finish(t, &place, false, &after);
    if (ki_value_count(&found) != ki_value_count(&place.value) + 1 ||
        ki_value_element(&found, -1, &last) < 0 ||
        !ki_value_equals(&last, ki_str_from("example.com/f"))) {
        complain(t, after, "not added once");
    }
    ki_object_unref(after);
    /* And away again: nothing is left but maybe an empty list. */
    ki_edit_remove_finalizer(t->edit, "example.com/f");
    found = finish(t, &place, false, &after);
    if (ki_value_count(&found) != ki_value_count(&place.value)) {
        complain(t, after, "not removed");
    }
    ki_object_unref(after);
}

static void change_owners(trial *t)
{
    static const char text[] = "{\"apiVersion\":\"example.com/v1\",\"kind\":\"Website\","
                               "\"metadata\":{\"name\":\"w\",\"uid\":\"u-1\"}}";
    random_place place = fixed_place(t->before, "metadata", "ownerReferences");
    ki_object *owner = NULL;
    ki_object *after = NULL;
    ki_value last = {0};
    ki_value uid = {0};
    assert_int_equal(ki_object_from_json(text, sizeof(text) - 1, NULL, &owner, NULL), 0);
    (void)snprintf(t->what, sizeof(t->what), "owners");
    begin(t);
    ki_edit_add_owner(t->edit, owner, false);
    ki_edit_add_owner(t->edit, owner, false);
    ki_value found = finish(t, &place, false, &after);
    if (ki_value_count(&found) != ki_value_count(&place.value) + 1 ||
        ki_value_element(&found, -1, &last) < 0 ||
        ki_value_member(&last, ki_str_from("uid"), &uid) < 0 ||
        !ki_value_equals(&uid, ki_str_from("u-1"))) {
        complain(t, after, "not added once");
    }
    ki_object_unref(after);
    ki_edit_remove_owner(t->edit, "u-1");
    found = finish(t, &place, false, &after);
    if (ki_value_count(&found) != ki_value_count(&place.value)) {
        complain(t, after, "not removed");
    }
    ki_object_unref(after);
    ki_object_unref(owner);
}

/* The member of a condition must be the text; NULL: it must be as before. */
static void check_member(trial *t, const ki_object *after, const ki_value *condition,
                         const ki_value *before, const char *name, const char *text)
{
    ki_value now = {0};
    ki_value was = {0};
    (void)!ki_value_member(condition, ki_str_from(name), &now);
    (void)!ki_value_member(before, ki_str_from(name), &was);
    bool right = text != NULL
                     ? ki_value_equals(&now, ki_str_from(text))
                     : ki_value_type(&now) == ki_value_type(&was) &&
                           (ki_value_type(&now) == KI_TYPE_NONE || same_value(&now, &was, NULL));
    if (!right) {
        complain(t, after, name);
    }
}

static void change_conditions(trial *t)
{
    random_place place = fixed_place(t->before, "status", "conditions");
    ki_object *after = NULL;
    char type[PLACE_NAME_MAX] = "New";
    char status[PLACE_NAME_MAX] = "True";
    ki_value old = {0};
    ki_value value;
    size_t count = ki_value_count(&place.value);
    size_t index = count != 0 ? (size_t)place_below(&t->seed, count) : 0;
    if (ki_value_element(&place.value, (int64_t)index, &value) == 0 &&
        ki_value_member(&value, ki_str_from("type"), &old) == 0) {
        if (!place_take_name(&old, type)) {
            return; /* with a NUL */
        }
        bool same = ki_value_member(&value, ki_str_from("status"), &old) == 0 &&
                    place_take_name(&old, status) && place_below(&t->seed, 2) == 0;
        if (!same) {
            (void)snprintf(status, sizeof(status), "Other");
        }
    }
    const ki_condition condition = {.size = sizeof(condition),
                                    .type = type,
                                    .status = status,
                                    .reason = "Because",
                                    .observed_generation = 0,
                                    .transition_time_ns = INT64_C(1700000000123456789)};
    (void)snprintf(t->what, sizeof(t->what), "condition %s %s", type, status);
    begin(t);
    ki_edit_set_condition(t->edit, &condition);
    ki_value found = finish(t, &place, false, &after);
    size_t now = ki_value_count(&found);
    size_t at = 0;
    for (bool is_it = false; !is_it; at += is_it ? 0 : 1) { /* the first of the type */
        assert_int_equal(ki_value_element(&found, (int64_t)at, &value), 0);
        is_it = ki_value_member(&value, ki_str_from("type"), &old) == 0 &&
                ki_value_equals(&old, ki_str_from(type));
    }
    ki_value before = {0};
    (void)!ki_value_element(&place.value, (int64_t)at, &before);
    bool was_there = at < count;
    ki_value was = {0};
    bool changed = !was_there || ki_value_member(&before, ki_str_from("status"), &was) < 0 ||
                   !ki_value_equals(&was, ki_str_from(status)) ||
                   ki_value_member(&before, ki_str_from("lastTransitionTime"), &was) < 0 ||
                   ki_value_type(&was) == KI_TYPE_NULL;
    check_member(t, after, &value, &before, "status", status);
    check_member(t, after, &value, &before, "reason", "Because");
    check_member(t, after, &value, &before, "message", NULL);
    check_member(t, after, &value, &before, "observedGeneration", NULL);
    check_member(t, after, &value, &before, "lastTransitionTime",
                 changed ? "2023-11-14T22:13:20Z" : NULL);
    if (now != count + (was_there ? 0 : 1) ||
        (was_there && !place_same_elements(&place.value, &found, at, false))) {
        complain(t, after, "other conditions have changed");
    }
    ki_object_unref(after);
}

/* Whether conditions are a list, or can become one. */
static bool has_conditions(const ki_object *object)
{
    random_place place = place_root(object);
    place_to_member(&place, "status", false);
    ki_type type = ki_value_type(&place.value);
    if (type != KI_TYPE_MAP) {
        return type == KI_TYPE_NONE;
    }
    place_to_member(&place, "conditions", false);
    type = ki_value_type(&place.value);
    return type == KI_TYPE_LIST || type == KI_TYPE_NONE || type == KI_TYPE_NULL;
}

/* ---- all of them ---- */

static void change_once(trial *t)
{
    uint64_t how = place_below(&t->seed, 10);
    if (how <= 1) {
        set_something(t, how == 1);
    } else if (how == 2) {
        remove_something(t);
    } else if (how == 3) {
        append_something(t);
    } else if (how == 4 && has_conditions(t->before)) {
        change_conditions(t);
    } else if (how >= 5 && has_metadata(t->before)) {
        how == 5 ? change_finalizers(t) : how == 6 ? change_owners(t) : change_entry(t, how == 7);
    }
    t->edit = ki_edit_unref(t->edit);
}

/* JSON patches test the version: gives the object one, if it has none, and so makes it JSON. */
static ki_object *with_version(ki_object *object)
{
    ki_edit *edit = NULL;
    ki_object *made = NULL;
    if (ki_object_resource_version(object)[0] != '\0') {
        return object;
    }
    assert_int_equal(ki_edit_new(object, NULL, &edit, NULL), 0);
    ki_edit_set_string(edit, "metadata.resourceVersion", "17");
    assert_int_equal(ki_edit_object(edit, &made, NULL), 0);
    (void)ki_edit_unref(edit);
    ki_object_unref(object);
    return made;
}

typedef struct progress {
    size_t records;
    size_t changes;
    size_t from_protobuf;
    ki_object *previous;
} progress;

static void change_record(const golden_record *record, void *user)
{
    progress *p = user;
    p->records++;
    for (uint64_t round = 0; round < rounds() * 4; round++) {
        trial t = {.seed = p->records * UINT64_C(1000003) + round};
        bool proto = round % 2 == 0;
        t.before = with_version(object_of(record, proto));
        t.other = p->previous != NULL ? ki_object_ref(p->previous) : ki_object_ref(t.before);
        p->from_protobuf += ki_object_encoding(t.before) == KI_ENCODING_PROTOBUF ? 1 : 0;
        change_once(&t);
        p->changes += t.changes;
        ki_object_unref(p->previous);
        p->previous = t.before;
        ki_object_unref(t.other);
    }
}

static void a_change_changes_what_it_names(void **state)
{
    (void)state;
    progress p = {0};
    assert_true(golden_each(folder, change_record, &p) > 2000);
    print_message("%zu changes, %zu objects as protobuf\n", p.changes, p.from_protobuf);
    assert_true(p.changes > p.records * 3);
    assert_true(p.from_protobuf > p.records / 4);
    ki_object_unref(p.previous);
}

/* ---- pairs of objects ---- */

static void check_pair(const ki_object *before, const ki_object *after)
{
    ki_buf patch;
    ki_object *made = NULL;
    ki_error error = KI_ERROR_INIT;
    ki_buf_init(&patch, NULL, SAME_TEXT_MAX);
    int r = ki_object_merge_patch(before, after, &patch, &error);
    if (r < 0) {
        fail_msg("%s: %s", ki_object_kind(before), error.message);
    }
    assert_true(r != 0 || strcmp(patch.data, "{}") == 0);
    r = ki_object_merge(before, KI_PATCH_MERGE, ki_buf_str(&patch), NULL, &made, &error);
    if (r < 0) {
        fail_msg("%s: %s", ki_object_kind(before), error.message);
    }
    ki_value left = ki_object_root(made);
    ki_value right = ki_object_root(after);
    if (!same_but_nulls(&left, &right)) {
        fail_msg("%s: %s", ki_object_kind(before), patch.data);
    }
    ki_object_unref(made);
    ki_buf_done(&patch);
}

/* Each with the one before, which is mostly of another kind or of the same with other contents. */
static void pair_record(const golden_record *record, void *user)
{
    progress *p = user;
    bool proto = p->records++ % 2 == 0;
    ki_object *object = object_of(record, proto);
    if (p->previous != NULL) {
        check_pair(p->previous, object);
        check_pair(object, p->previous);
    }
    ki_object_unref(p->previous);
    p->previous = object;
}

static void a_merge_patch_leads_to_the_other_object(void **state)
{
    (void)state;
    progress p = {0};
    assert_true(golden_each(folder, pair_record, &p) > 2000);
    ki_object_unref(p.previous);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_change_changes_what_it_names),
        cmocka_unit_test(a_merge_patch_leads_to_the_other_object),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
