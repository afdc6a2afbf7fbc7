/* SPDX-License-Identifier: Apache-2.0 */
/* How values are merged: the tables of built-in kinds, and schemas of custom ones. */
#include <string.h>

#include "object/edit/merge_type.h"
#include "support/objects.h"
#include "support/test.h"

static void the_table_is_in_order(void **state)
{
    (void)state;
    assert_true(ki__merge_rule_count > 300);
    for (size_t i = 0; i < ki__merge_rule_count; i++) {
        const ki__merge_rule *rule = &ki__merge_rules[i];
        const ki__schema_field *field = &ki__schema_fields[rule->field];
        bool list = (field->flags & KI__SCHEMA_REPEATED) != 0;
        assert_true(i == 0 || ki__merge_rules[i - 1].field < rule->field);
        assert_true(rule->how != KI__MERGE_USUAL || rule->whole != 0);
        assert_int_equal(rule->key_count != 0, rule->how == KI__MERGE_KEYS);
        assert_true(list || (rule->how != KI__MERGE_SET && rule->how != KI__MERGE_KEYS));
        for (size_t k = 0; k < rule->key_count; k++) { /* each is a field of the elements */
            const ki__schema_message *element = &ki__schema_messages[field->message];
            assert_non_null(ki__schema_field_by_name(element, ki__schema_name(rule->keys[k])));
        }
    }
}

/* Follows a path of members; "*" is an element. */
static ki__merge_type walk(ki__merge_type type, const char *path)
{
    while (*path != '\0') {
        size_t len = strcspn(path, ".");
        ki_str name = ki_str_make(path, len);
        type = ki_str_eq_text(name, "*") ? ki__merge_type_element(&type)
                                         : ki__merge_type_member(&type, name);
        path += len + (path[len] == '.' ? 1 : 0);
    }
    return type;
}

static void built_in_kinds_are_known(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        ki__merge_how how;
        const char *keys; /* one after the other */
        bool named;
        bool shown;
    } cases[] = {
        {"spec", KI__MERGE_USUAL, "", true, true},
        {"spec.containers", KI__MERGE_KEYS, "name", true, true},
        {"spec.containers.*", KI__MERGE_USUAL, "", false, false},
        {"spec.containers.*.ports", KI__MERGE_KEYS, "containerPortprotocol", true, false},
        {"spec.containers.*.args", KI__MERGE_ATOMIC, "", true, false},
        {"spec.containers.*.resources", KI__MERGE_USUAL, "", true, true},
        {"spec.containers.*.resources.limits.cpu", KI__MERGE_USUAL, "", false, false},
        {"spec.containers.*.env.*.valueFrom.secretKeyRef", KI__MERGE_ATOMIC, "", true, false},
        {"spec.imagePullSecrets", KI__MERGE_KEYS, "name", true, false},
        {"spec.imagePullSecrets.*", KI__MERGE_ATOMIC, "", false, false},
        {"spec.nodeSelector", KI__MERGE_ATOMIC, "", true, false},
        {"metadata.ownerReferences.*", KI__MERGE_ATOMIC, "", false, false},
        {"metadata.finalizers", KI__MERGE_SET, "", true, false},
        {"metadata.labels", KI__MERGE_USUAL, "", true, false},
        {"metadata.labels.app", KI__MERGE_USUAL, "", false, false},
        {"status.conditions", KI__MERGE_KEYS, "type", true, false},
        {"nothing.of.*.this", KI__MERGE_USUAL, "", false, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ki__merge_type type =
            walk(ki__merge_type_builtin(ki_str_from("v1"), ki_str_from("Pod")), cases[i].path);
        ki_str keys[KI__MERGE_KEYS_MAX];
        ki_buf text;
        ki__merge_how how = ki__merge_type_how(&type);
        size_t count = how == KI__MERGE_KEYS ? ki__merge_type_keys(&type, keys) : 0;
        ki_buf_init(&text, NULL, 100);
        for (size_t k = 0; k < count; k++) {
            assert_int_equal(ki_buf_add_str(&text, keys[k]), 0);
        }
        if (how == KI__MERGE_USUAL && cases[i].how == KI__MERGE_ATOMIC) {
            assert_true(ki__merge_type_is_whole(&type, KI_TYPE_LIST)); /* which is the same */
        } else {
            assert_int_equal(how, cases[i].how);
        }
        assert_string_equal(ki_buf_text(&text), cases[i].keys);
        assert_int_equal(type.named, cases[i].named);
        assert_int_equal(type.shown, cases[i].shown);
        ki_buf_done(&text);
    }
}

static void keys_may_have_defaults(void **state)
{
    (void)state;
    ki_value value;
    ki__merge_type ports =
        walk(ki__merge_type_builtin(ki_str_from("v1"), ki_str_from("Service")), "spec.ports");
    assert_true(ki__merge_type_key_default(&ports, ki_str_from("protocol"), &value));
    assert_true(ki_value_equals(&value, ki_str_from("TCP")));
    assert_false(ki__merge_type_key_default(&ports, ki_str_from("port"), &value));
}

static void custom_kinds_tell_by_their_schema(void **state)
{
    (void)state;
    ki_object *schema = test_object(
        NULL, "{'properties':{'m':{'x-kubernetes-list-type':'map','x-kubernetes-list-map-keys':["
              "'b','a',5],'items':{'properties':{'a':{'default':1}}}},'w':{'x-kubernetes-map-type':"
              "'atomic'},'o':{'additionalProperties':{'properties':{'x':{}}}},'odd':5}}");
    ki__merge_type root = ki__merge_type_custom(ki_object_root(schema));
    ki__merge_type type = walk(root, "m");
    ki_str keys[KI__MERGE_KEYS_MAX];
    ki_value value;
    int64_t number = 0;
    assert_int_equal(ki__merge_type_keys(&type, keys), 2);
    assert_true(ki_str_eq_text(keys[0], "a") && ki_str_eq_text(keys[1], "b"));
    assert_true(ki__merge_type_key_default(&type, keys[0], &value));
    assert_int_equal(ki_value_int64(&value, &number), 0);
    assert_int_equal(number, 1);
    assert_false(ki__merge_type_key_default(&type, keys[1], &value));
    type = walk(root, "w");
    assert_true(ki__merge_type_is_whole(&type, KI_TYPE_MAP));
    assert_true(walk(root, "o").named);
    assert_false(walk(root, "o.k").named);
    assert_true(walk(root, "o.k.x").named);
    assert_false(walk(root, "odd.x").named);
    type = walk(root, "metadata.finalizers");
    assert_int_equal(ki__merge_type_how(&type), KI__MERGE_SET);
    ki_object_unref(schema);
}

/* A schema is gone through for each field: so many fields of a large one would take for ever. */
static void looking_into_a_schema_takes_steps(void **state)
{
    (void)state;
    enum { PROPERTIES = 2000, STEPS = 10000 };
    ki_buf text;
    ki_buf_init(&text, NULL, 100000);
    test_add(&text, "{\"properties\":{\"a\":{}", 1);
    test_add(&text, ",\"b\":{\"type\":\"string\"}", PROPERTIES);
    test_add(&text, ",\"z\":{\"properties\":{\"x\":{}}}}}", 1);
    ki_object *schema = test_json(text.data);
    uint32_t steps = STEPS;
    ki__merge_type root = ki__merge_type_custom(ki_object_root(schema));
    root.steps = &steps;
    assert_true(walk(root, "a").named);
    assert_true(steps > STEPS - 10);
    assert_true(walk(root, "z.x").named);
    uint32_t used = STEPS - steps;
    assert_in_range(used, text.len / KI__MERGE_STEP_BYTES, text.len / KI__MERGE_STEP_BYTES + 20);
    for (uint32_t i = 0; i < STEPS / used; i++) {
        (void)walk(root, "none.x");
    }
    assert_int_equal(steps, 0);
    assert_false(walk(root, "z").named); /* there is no end to it, but no answer either */
    ki_object_unref(schema);
    ki_buf_done(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_is_in_order),
        cmocka_unit_test(built_in_kinds_are_known),
        cmocka_unit_test(keys_may_have_defaults),
        cmocka_unit_test(custom_kinds_tell_by_their_schema),
        cmocka_unit_test(looking_into_a_schema_takes_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
