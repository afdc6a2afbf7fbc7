/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include <kinformer/resource.h>
#include <kinformer/resource_table.h>

#include "object/proto/schema.h"
#include "support/golden.h"
#include "support/test.h"

/* Built-in resources of Kubernetes 1.36 that the release of the tables no longer has. */
static const struct {
    const char *api_version, *kind;
} without_protobuf[] = {
    {"scheduling.k8s.io/v1alpha2", "PodGroup"},
    {"scheduling.k8s.io/v1alpha2", "Workload"},
};

enum { NONE = sizeof without_protobuf / sizeof without_protobuf[0] };

static const ki__schema_message *of(const char *api_version, const char *kind)
{
    return ki__schema_of_kind(ki_str_from(api_version), ki_str_from(kind));
}

static const ki__schema_field *fields_of(const ki__schema_message *message)
{
    return ki__schema_fields + message->first_field;
}

static const ki__schema_message *message_of(const ki__schema_field *field)
{
    return &ki__schema_messages[field->message];
}

/* The field with this name, not looking into inline messages; it must be there. */
static const ki__schema_field *field_named(const ki__schema_message *message, const char *name)
{
    assert_non_null(message);
    for (size_t i = 0; i < message->field_count; i++) {
        if (ki_str_eq(ki__schema_name(fields_of(message)[i].name), ki_str_from(name))) {
            return &fields_of(message)[i];
        }
    }
    fail_msg("no field %s", name);
    return NULL;
}

/* The same, along a path of names with dots. */
static const ki__schema_field *field_at(const ki__schema_message *message, const char *path)
{
    char name[64];
    for (;;) {
        size_t len = strcspn(path, ".");
        assert_true(len < sizeof name);
        memcpy(name, path, len);
        name[len] = '\0';
        const ki__schema_field *field = field_named(message, name);
        if (path[len] == '\0') {
            return field;
        }
        message = message_of(field);
        path += len + 1;
    }
}

/* Marks the names that something uses; gives the greatest. */
static size_t mark_names(bool *used)
{
    const ki__schema_message *last = &ki__schema_messages[ki__schema_message_count - 1];
    size_t count = last->first_field + (size_t)last->field_count;
    size_t greatest = 0;
    for (size_t i = 0; i < count; i++) {
        uint16_t name = ki__schema_fields[i].name;
        used[name] = true;
        greatest = name > greatest ? name : greatest;
    }
    for (size_t i = 0; i < ki__schema_kind_count; i++) {
        used[ki__schema_kinds[i].api_version] = true;
        used[ki__schema_kinds[i].kind] = true;
    }
    used[0] = true;
    return greatest;
}

static void names_are_sorted_and_there_once(void **state)
{
    (void)state;
    static bool used[UINT16_MAX + 1];
    size_t greatest = mark_names(used);
    size_t last = 0;
    size_t next = 1;
    assert_int_equal(ki__schema_name(0).len, 0);
    for (size_t at = 1; at <= greatest; at++) {
        assert_int_equal(used[at], at == next); /* each is used, and nothing between them */
        if (at == next) {
            ki_str name = ki__schema_name((uint16_t)at);
            assert_true(ki_str_cmp(ki__schema_name((uint16_t)last), name) < 0);
            last = at;
            next += 1 + name.len;
        }
    }
    assert_int_equal(last, greatest);
}

static void constants_name_what_they_say(void **state)
{
    (void)state;
    assert_str(ki__schema_name(KI__SCHEMA_NAME_API_VERSION), "apiVersion");
    assert_str(ki__schema_name(KI__SCHEMA_NAME_METADATA), "metadata");
    assert_str(ki__schema_name(KI__SCHEMA_NAME_RESOURCE_VERSION), "resourceVersion");
    assert_str(ki__schema_name(KI__SCHEMA_NAME_OWNER_REFERENCES), "ownerReferences");
    assert_str(ki__schema_name(KI__SCHEMA_NAME_UID), "uid");
    const ki__schema_field *meta = field_named(of("v1", "Pod"), "metadata");
    assert_int_equal(meta->name, KI__SCHEMA_NAME_METADATA);
    assert_int_equal(meta->message, KI__SCHEMA_OBJECT_META);
    assert_int_equal(field_named(of("v1", "PodList"), "metadata")->message, KI__SCHEMA_LIST_META);
}

static bool needs_message(const ki__schema_field *field)
{
    return field->type == KI__SCHEMA_MESSAGE || field->type == KI__SCHEMA_OR_BOOL ||
           field->type == KI__SCHEMA_OR_LIST;
}

static void check_field(const ki__schema_field *field)
{
    assert_true(field->type < KI__SCHEMA_TYPE_MAX);
    if (needs_message(field)) {
        assert_true(field->message < ki__schema_message_count);
    } else {
        assert_int_equal(field->message, 0);
    }
    /* It is one of these at most. */
    unsigned shape = field->flags & (KI__SCHEMA_REPEATED | KI__SCHEMA_MAP | KI__SCHEMA_INLINE |
                                     KI__SCHEMA_POINTER);
    assert_int_equal(shape & (shape - 1), 0);
    if (field->flags & KI__SCHEMA_INLINE) {
        assert_int_equal(field->type, KI__SCHEMA_MESSAGE);
        assert_int_equal(field->flags, KI__SCHEMA_INLINE);
        assert_int_equal(field->name, 0);
    } else {
        assert_int_not_equal(field->name, 0);
        assert_int_equal(field->slot, 0);
    }
    /* What would have no effect is not set. */
    if (shape == 0 && field->type >= KI__SCHEMA_MESSAGE && field->type != KI__SCHEMA_ITEMS) {
        assert_int_equal(field->flags & KI__SCHEMA_OMIT_EMPTY, 0);
    }
}

static void messages_are_runs_of_fields_by_number(void **state)
{
    (void)state;
    size_t next = 0;
    for (size_t i = 0; i < ki__schema_message_count; i++) {
        const ki__schema_message *message = &ki__schema_messages[i];
        assert_int_equal(message->first_field, next);
        next += message->field_count;
        int number = 0;
        for (size_t j = 0; j < message->field_count; j++) {
            const ki__schema_field *field = &fields_of(message)[j];
            assert_true(field->number > number);
            number = field->number;
            check_field(field);
        }
    }
    assert_true(next > 4000);
}

/* Counts slots and looks at names as a reader would; recursion is bounded by what it checks. */
static size_t walk_slots(const ki__schema_message *message, size_t slot, int depth, uint16_t *names)
{
    assert_true(depth <= KI__SCHEMA_INLINE_DEPTH_MAX);
    size_t next = slot + message->field_count;
    for (size_t i = 0; i < message->field_count; i++) {
        const ki__schema_field *field = &fields_of(message)[i];
        assert_true(slot + i < KI__SCHEMA_SLOTS_MAX);
        names[slot + i] = field->name;
        if (field->flags & KI__SCHEMA_INLINE) {
            assert_int_equal(slot + field->slot, next);
            next = walk_slots(message_of(field), next, depth + 1, names);
        }
    }
    assert_int_equal(next - slot, message->slot_count);
    return next;
}

static void slots_are_counted_and_no_member_is_there_twice(void **state)
{
    (void)state;
    size_t most = 0;
    for (size_t i = 0; i < ki__schema_message_count; i++) {
        uint16_t names[KI__SCHEMA_SLOTS_MAX] = {0};
        size_t count = walk_slots(&ki__schema_messages[i], 0, 0, names);
        most = count > most ? count : most;
        for (size_t j = 0; j < count; j++) {
            for (size_t k = 0; k < j && names[j] != 0; k++) {
                assert_int_not_equal(names[j], names[k]);
            }
        }
    }
    assert_true(most > 40);
}

static void fields_are_found_by_number_across_gaps(void **state)
{
    (void)state;
    size_t gaps = 0;
    for (size_t i = 0; i < ki__schema_message_count; i++) {
        const ki__schema_message *message = &ki__schema_messages[i];
        size_t found = 0;
        for (uint32_t number = 0; number <= 300; number++) {
            const ki__schema_field *field = ki__schema_field_by_number(message, number);
            if (field != NULL) {
                assert_int_equal(field->number, number);
                assert_ptr_equal(field, &fields_of(message)[found]);
                found++;
                gaps += found != number;
            }
        }
        assert_int_equal(found, message->field_count);
        assert_null(ki__schema_field_by_number(message, (1U << 29) - 1));
        assert_null(ki__schema_field_by_number(message, UINT32_MAX));
    }
    assert_true(gaps > 50);
}

static void kinds_are_sorted_and_found(void **state)
{
    (void)state;
    ki_str last_version = ki_str_from("");
    ki_str last_kind = ki_str_from("");
    for (size_t i = 0; i < ki__schema_kind_count; i++) {
        const ki__schema_kind *row = &ki__schema_kinds[i];
        ki_str api_version = ki__schema_name(row->api_version);
        ki_str kind = ki__schema_name(row->kind);
        int order = ki_str_cmp(last_version, api_version);
        assert_true(order < 0 || (order == 0 && ki_str_cmp(last_kind, kind) < 0));
        assert_true(row->message < ki__schema_message_count);
        assert_ptr_equal(ki__schema_of_kind(api_version, kind), &ki__schema_messages[row->message]);
        last_version = api_version;
        last_kind = kind;
    }
    assert_true(ki__schema_kind_count > 700);
}

static void unknown_kinds_are_not_found(void **state)
{
    (void)state;
    assert_null(of("", ""));
    assert_null(of("v1", ""));
    assert_null(of("", "Pod"));
    assert_null(of("v1", "pod"));
    assert_null(of("v1", "Po"));
    assert_null(of("v1", "Pods"));
    assert_null(of("v2", "Pod"));
    assert_null(of("v", "1Pod"));
    assert_null(of("apps/v1", "Pod"));
    assert_null(of("example.com/v1", "Widget"));
    assert_null(of("zzz/v1", "Zzz"));
}

/* Written by hand from the API reference: a few fields of each sort. */
static const struct {
    const char *api_version, *kind, *path;
    int number;
    ki__schema_type type;
    unsigned flags;
} facts[] = {
    {"v1", "Pod", "spec", 2, KI__SCHEMA_MESSAGE, 0},
    {"v1", "Pod", "spec.nodeName", 10, KI__SCHEMA_STRING, KI__SCHEMA_OMIT_EMPTY},
    {"v1", "Pod", "spec.containers", 2, KI__SCHEMA_MESSAGE, KI__SCHEMA_REPEATED},
    {"v1", "Pod", "spec.nodeSelector", 7, KI__SCHEMA_STRING,
     KI__SCHEMA_MAP | KI__SCHEMA_OMIT_EMPTY},
    {"v1", "Pod", "spec.activeDeadlineSeconds", 5, KI__SCHEMA_INT64,
     KI__SCHEMA_POINTER | KI__SCHEMA_OMIT_EMPTY},
    {"v1", "Pod", "spec.hostNetwork", 11, KI__SCHEMA_BOOL, KI__SCHEMA_OMIT_EMPTY},
    {"v1", "Pod", "spec.containers.resources.limits", 1, KI__SCHEMA_QUANTITY,
     KI__SCHEMA_MAP | KI__SCHEMA_OMIT_EMPTY},
    {"v1", "Pod", "status.containerStatuses.restartCount", 5, KI__SCHEMA_INT32, 0},
    {"v1", "Pod", "metadata.creationTimestamp", 8, KI__SCHEMA_TIME, KI__SCHEMA_OMIT_ZERO},
    {"v1", "Pod", "metadata.deletionTimestamp", 9, KI__SCHEMA_TIME,
     KI__SCHEMA_POINTER | KI__SCHEMA_OMIT_EMPTY},
    {"v1", "Pod", "metadata.managedFields.fieldsV1", 7, KI__SCHEMA_RAW,
     KI__SCHEMA_POINTER | KI__SCHEMA_OMIT_EMPTY},
    {"v1", "Secret", "data", 2, KI__SCHEMA_BYTES, KI__SCHEMA_MAP | KI__SCHEMA_OMIT_EMPTY},
    {"v1", "Service", "spec.ports.targetPort", 4, KI__SCHEMA_INT_OR_STRING, 0},
    {"v1", "Event", "eventTime", 10, KI__SCHEMA_MICRO_TIME, 0},
    {"coordination.k8s.io/v1", "Lease", "spec.renewTime", 4, KI__SCHEMA_MICRO_TIME,
     KI__SCHEMA_POINTER | KI__SCHEMA_OMIT_EMPTY},
    {"v1", "APIResourceList", "resources.verbs", 4, KI__SCHEMA_ITEMS, 0},
    {"authorization.k8s.io/v1", "SubjectAccessReview", "spec.extra", 5, KI__SCHEMA_ITEMS,
     KI__SCHEMA_MAP | KI__SCHEMA_OMIT_EMPTY},
    {"apps/v1", "ControllerRevision", "data", 2, KI__SCHEMA_RAW, 0},
    {"apiextensions.k8s.io/v1", "CustomResourceDefinition",
     "spec.versions.schema.openAPIV3Schema.maximum", 9, KI__SCHEMA_DOUBLE,
     KI__SCHEMA_POINTER | KI__SCHEMA_OMIT_EMPTY},
    {"apiextensions.k8s.io/v1", "CustomResourceDefinition",
     "spec.versions.schema.openAPIV3Schema.additionalProperties", 30, KI__SCHEMA_OR_BOOL,
     KI__SCHEMA_POINTER | KI__SCHEMA_OMIT_EMPTY},
    {"apiextensions.k8s.io/v1", "CustomResourceDefinition",
     "spec.versions.schema.openAPIV3Schema.items", 24, KI__SCHEMA_OR_LIST,
     KI__SCHEMA_POINTER | KI__SCHEMA_OMIT_EMPTY},
    {"apiregistration.k8s.io/v1", "APIService", "spec.caBundle", 5, KI__SCHEMA_BYTES,
     KI__SCHEMA_OMIT_EMPTY},
    /* Of 1.37, where servers send them by default. */
    {"autoscaling/v2", "HorizontalPodAutoscaler", "status.conditions.observedGeneration", 6,
     KI__SCHEMA_INT64, KI__SCHEMA_POINTER | KI__SCHEMA_OMIT_EMPTY},
    {"v1", "Node", "status.nodeInfo.runningInUserNamespace", 12, KI__SCHEMA_BOOL,
     KI__SCHEMA_POINTER | KI__SCHEMA_OMIT_EMPTY},
    {"storage.k8s.io/v1", "CSINode", "status", 3, KI__SCHEMA_MESSAGE, 0},
    {"apps/v1", "DeleteOptions", "gracePeriodSeconds", 1, KI__SCHEMA_INT64,
     KI__SCHEMA_POINTER | KI__SCHEMA_OMIT_EMPTY},
};

static void fields_are_what_the_reference_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
        const ki__schema_field *field =
            field_at(of(facts[i].api_version, facts[i].kind), facts[i].path);
        assert_int_equal(field->number, facts[i].number);
        assert_int_equal(field->type, facts[i].type);
        assert_int_equal(field->flags, facts[i].flags);
    }
}

static void inline_messages_have_no_name(void **state)
{
    (void)state;
    const ki__schema_message *volume = message_of(field_at(of("v1", "Pod"), "spec.volumes"));
    const ki__schema_field *source = ki__schema_field_by_number(volume, 2);
    assert_non_null(source);
    assert_int_equal(source->flags, KI__SCHEMA_INLINE);
    assert_int_equal(source->slot, 2);
    assert_int_equal(field_named(message_of(source), "hostPath")->number, 1);
    assert_int_equal(volume->slot_count, 2 + message_of(source)->field_count);
}

static void choices_have_a_table_of_two_fields(void **state)
{
    (void)state;
    const char *path = "spec.versions.schema.openAPIV3Schema";
    const ki__schema_field *schema =
        field_at(of("apiextensions.k8s.io/v1", "CustomResourceDefinition"), path);
    static const struct {
        const char *name;
        ki__schema_type first, second;
        unsigned second_flags;
    } choices[] = {
        {"additionalItems", KI__SCHEMA_BOOL, KI__SCHEMA_MESSAGE, KI__SCHEMA_POINTER},
        {"items", KI__SCHEMA_MESSAGE, KI__SCHEMA_MESSAGE, KI__SCHEMA_REPEATED},
        {"dependencies", KI__SCHEMA_MESSAGE, KI__SCHEMA_STRING, KI__SCHEMA_REPEATED},
    };
    for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++) {
        const ki__schema_message *choice =
            message_of(field_named(message_of(schema), choices[i].name));
        assert_int_equal(choice->field_count, 2);
        const ki__schema_field *fields = fields_of(choice);
        assert_int_equal(fields[0].number, 1);
        assert_int_equal(fields[0].type, choices[i].first);
        assert_int_equal(fields[1].number, 2);
        assert_int_equal(fields[1].type, choices[i].second);
        assert_int_equal(fields[1].flags, choices[i].second_flags);
        for (size_t j = 0; j < 2; j++) {
            if (fields[j].type == KI__SCHEMA_MESSAGE) {
                assert_int_equal(fields[j].message, schema->message);
            }
        }
    }
}

static bool is_without_protobuf(const ki_resource *resource)
{
    for (size_t i = 0; i < NONE; i++) {
        if (strcmp(ki_resource_api_version(resource), without_protobuf[i].api_version) == 0 &&
            strcmp(ki_resource_kind(resource), without_protobuf[i].kind) == 0) {
            return true;
        }
    }
    return false;
}

static void every_builtin_resource_has_protobuf_but_dropped_ones(void **state)
{
    (void)state;
    size_t without = 0;
    for (size_t i = 0; i < KI_BUILTIN_MAX; i++) {
        const ki_resource *resource = ki_resource_builtin_at(i);
        assert_int_equal(ki_resource_has_protobuf(resource), !is_without_protobuf(resource));
        without += !ki_resource_has_protobuf(resource);
    }
    assert_int_equal(without, NONE);
}

static void custom_resources_have_no_protobuf(void **state)
{
    (void)state;
    ki_resource *widgets;
    assert_int_equal(
        ki_resource_new(KI_OPTIONS(ki_resource_options, .group = "example.com", .version = "v1",
                                   .resource = "widgets", .kind = "Widget"),
                        &widgets, NULL),
        0);
    assert_false(ki_resource_has_protobuf(widgets));
    ki_resource_unref(widgets);
}

static void know_kind(const golden_record *record, void *user)
{
    const ki__schema_message *message = ki__schema_of_kind(record->api_version, record->kind);
    assert_non_null(message);
    assert_true(record->protobuf.len > 4 && memcmp(record->protobuf.ptr, "k8s", 4) == 0);
    assert_true(record->json.len > 2 && record->json.ptr[0] == '{');
    assert_true(record->rewritten.len > 4 && memcmp(record->rewritten.ptr, "k8s", 4) == 0);
    bool *seen = user;
    seen[message - ki__schema_messages] = true;
}

static void every_kind_has_golden_vectors(void **state)
{
    (void)state;
    static bool seen[UINT16_MAX + 1];
    assert_true(golden_each(TEST_DATA_DIR "/protobuf", know_kind, seen) > 2000);
    for (size_t i = 0; i < ki__schema_kind_count; i++) {
        assert_true(seen[ki__schema_kinds[i].message]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_sorted_and_there_once),
        cmocka_unit_test(constants_name_what_they_say),
        cmocka_unit_test(messages_are_runs_of_fields_by_number),
        cmocka_unit_test(slots_are_counted_and_no_member_is_there_twice),
        cmocka_unit_test(fields_are_found_by_number_across_gaps),
        cmocka_unit_test(kinds_are_sorted_and_found),
        cmocka_unit_test(unknown_kinds_are_not_found),
        cmocka_unit_test(fields_are_what_the_reference_says),
        cmocka_unit_test(inline_messages_have_no_name),
        cmocka_unit_test(choices_have_a_table_of_two_fields),
        cmocka_unit_test(every_builtin_resource_has_protobuf_but_dropped_ones),
        cmocka_unit_test(custom_resources_have_no_protobuf),
        cmocka_unit_test(every_kind_has_golden_vectors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
