/* SPDX-License-Identifier: Apache-2.0 */
/* What of protobuf is refused, with which code and where, and what is not. */
#include <stdlib.h>
#include <string.h>

#include <kinformer/encoding.h>

#include "object/proto/proto_check.h"
#include "support/proto.h"
#include "support/test.h"

#define BYTES_MAX ((size_t)1 << 24)

typedef struct refused {
    const char *text; /* of a message as test_proto() reads it */
    int code;
    size_t offset;
    const char *message; /* a part of it */
} refused;

static int read_as(const char *api_version, const char *kind, const char *text, uint32_t max_depth,
                   ki_error *error)
{
    const ki_object_options options = {
        .max_depth = max_depth, .default_kind = kind, .default_api_version = api_version};
    ki_buf bytes;
    ki_object *object = NULL;
    ki_buf_init(&bytes, NULL, BYTES_MAX);
    test_proto(&bytes, text);
    /* The exact size, so that a sanitizer sees what is read after it. */
    char *exact = malloc(bytes.len != 0 ? bytes.len : 1);
    assert_non_null(exact);
    if (bytes.len != 0) {
        memcpy(exact, bytes.data, bytes.len);
    }
    int r = ki_object_from_protobuf(exact, bytes.len, &options, &object, error);
    if (r == 0) {
        ki_object_unref(object);
    } else {
        assert_null(object);
    }
    free(exact);
    ki_buf_done(&bytes);
    return r;
}

static void check_refused(const char *api_version, const char *kind, const refused *cases,
                          size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const refused *c = &cases[i];
        ki_error error = KI_ERROR_INIT;
        int r = read_as(api_version, kind, c->text, 0, &error);
        if (r != c->code || error.code != r || error.offset != c->offset || error.line != 0 ||
            error.column != 0 || strstr(error.message, c->message) == NULL) {
            fail_msg("%s: %d at %zu: %s", c->text, r, error.offset, error.message);
        }
        assert_int_equal(read_as(api_version, kind, c->text, 0, NULL), r);
    }
}

#define CHECK_REFUSED(api_version, kind, cases) \
    check_refused(api_version, kind, cases, sizeof(cases) / sizeof((cases)[0]))

static void malformed_tags_are_refused(void **state)
{
    (void)state;
    static const refused cases[] = {
        {"#80", KI_ERR_SYNTAX, 0, "truncated in a tag"},
        {"#80808080", KI_ERR_SYNTAX, 0, "truncated in a tag"},
        {"#808080808001", KI_ERR_SYNTAX, 0, "longer than 5 bytes"},
        {"#ffffffff7f00", KI_ERR_SYNTAX, 0, "below 2^29"},
        {"#00", KI_ERR_SYNTAX, 0, "must not be 0"},
        {"#0200", KI_ERR_SYNTAX, 0, "must not be 0"},
        {"#8000", KI_ERR_SYNTAX, 0, "must not be 0"},
        {"1:{1:'a'} #80", KI_ERR_SYNTAX, 5, "truncated in a tag"},
        {"1:{1:'a' #80}", KI_ERR_SYNTAX, 5, "metadata: message truncated in a tag"},
    };
    CHECK_REFUSED("v1", "Pod", cases);
}

static void wrong_wire_types_are_refused(void **state)
{
    (void)state;
    static const refused cases[] = {
        {"#0b", KI_ERR_SYNTAX, 0, "metadata: groups are not supported"},
        {"#0c", KI_ERR_SYNTAX, 0, "metadata: groups are not supported"},
        {"#0e", KI_ERR_SYNTAX, 0, "unknown wire type"},
        {"#0f", KI_ERR_SYNTAX, 0, "unknown wire type"},
        {"#a306", KI_ERR_SYNTAX, 0, "groups"}, /* an unknown field, 100 */
        {"#a406", KI_ERR_SYNTAX, 0, "groups"},
        {"#a606", KI_ERR_SYNTAX, 0, "unknown wire type"},
        {"#a706", KI_ERR_SYNTAX, 0, "unknown wire type"},
        {"1:7", KI_ERR_INVALID, 0, "metadata: wrong wire type"},
        {"1:{1:7}", KI_ERR_INVALID, 2, "name: wrong wire type"},
        {"1:{7:'1'}", KI_ERR_INVALID, 2, "generation: wrong wire type"},
        {"1:{7:d1}", KI_ERR_INVALID, 2, "generation: wrong wire type"},
        {"1:{1:d1}", KI_ERR_INVALID, 2, "name: wrong wire type"},
        {"1:{11:1}", KI_ERR_INVALID, 2, "labels: wrong wire type"},
        {"1:{8:1}", KI_ERR_INVALID, 2, "creationTimestamp: wrong wire type"},
        {"1:{8:{1:'1'}}", KI_ERR_INVALID, 4, "creationTimestamp: wrong wire type"},
        {"1:{8:{2:'1'}}", KI_ERR_INVALID, 4, "creationTimestamp: wrong wire type"},
        {"2:{14:{4:x'0102'}}", KI_ERR_INVALID, 4, "supplementalGroups: packed lists"},
        {"2:{32:{1:'cpu' 2:'1'}}", KI_ERR_SYNTAX, 13, "overhead"},
        {"2:{32:{1:'cpu' 2:1}}", KI_ERR_INVALID, 10, "overhead: wrong wire type"},
        {"2:{32:{1:'cpu' 2:{1:7}}}", KI_ERR_INVALID, 12, "overhead: wrong wire type"},
        {"1:{13:{6:'x'}}", KI_ERR_INVALID, 4, "controller: wrong wire type"},
    };
    CHECK_REFUSED("v1", "Pod", cases);
}

static void what_is_cut_off_is_refused(void **state)
{
    (void)state;
    static const refused cases[] = {
        {"#0a", KI_ERR_SYNTAX, 1, "metadata: message truncated in a number"},
        {"#0a01", KI_ERR_SYNTAX, 1, "metadata: length exceeds"},
        {"#0a80", KI_ERR_SYNTAX, 1, "truncated in a number"},
        {"#0a020a05", KI_ERR_SYNTAX, 3, "name: length exceeds"},
        {"#0a030a0561", KI_ERR_SYNTAX, 3, "name: length exceeds"},
        {"#0a0138", KI_ERR_SYNTAX, 3, "generation: message truncated in a number"},
        {"#0a02388012000000", KI_ERR_SYNTAX, 3, "generation: message truncated in a number"},
        {"#0affffffffffffffffff01", KI_ERR_SYNTAX, 1, "length exceeds the message"},
        {"#0affffffffffffffffffff01", KI_ERR_SYNTAX, 1, "longer than 10 bytes"},
        {"#0a0c38ffffffffffffffffffff01", KI_ERR_SYNTAX, 3, "generation: varint longer"},
        {"#a206", KI_ERR_SYNTAX, 2, "truncated in a number"}, /* unknown fields */
        {"#a20601", KI_ERR_SYNTAX, 2, "length exceeds the message"},
        {"#a006", KI_ERR_SYNTAX, 2, "truncated in a number"},
        {"#a00680", KI_ERR_SYNTAX, 2, "truncated in a number"},
        {"#a10600000000000000", KI_ERR_SYNTAX, 2, "truncated in a number"},
        {"#a506000000", KI_ERR_SYNTAX, 2, "truncated in a number"},
        {"1:{11:x'0a056162'}", KI_ERR_SYNTAX, 5, "labels: length exceeds"},
        {"1:{11:x'0a0161'} #12", KI_ERR_SYNTAX, 8, "spec: message truncated"},
        {"1:{11:x'0a01611205'}", KI_ERR_SYNTAX, 8, "labels: length exceeds"},
        {"1:{11:x'0a01611280'}", KI_ERR_SYNTAX, 8, "labels: message truncated in a number"},
        {"1:{8:x'08'}", KI_ERR_SYNTAX, 5, "creationTimestamp: message truncated"},
        {"1:{8:x'0880808080801000'}", KI_ERR_SYNTAX, 11, "creationTimestamp: a field number"},
        {"1:{17:{7:x'0a0561'}}", KI_ERR_SYNTAX, 8, "fieldsV1: length exceeds"},
        {"2:{32:{1:'cpu' 2:x'0a0431'}}", KI_ERR_SYNTAX, 13, "overhead: length exceeds"},
    };
    CHECK_REFUSED("v1", "Pod", cases);
}

static void duplicates_are_rejected(void **state)
{
    (void)state;
    static const refused cases[] = {
        {"1:{} 1:{}", KI_ERR_INVALID, 2, "metadata: duplicate field"},
        {"1:{1:'a' 1:'a'}", KI_ERR_INVALID, 5, "name: duplicate field"},
        {"1:{1:'a' 3:'n' 1:'b'}", KI_ERR_INVALID, 8, "name: duplicate field"},
        {"1:{3:'n' 1:'a' 3:'m'}", KI_ERR_INVALID, 8, "namespace: duplicate field"},
        {"1:{3:'n' 1:'a' 5:'u' 1:'b'}", KI_ERR_INVALID, 11, "name: duplicate field"},
        {"1:{7:1 7:2}", KI_ERR_INVALID, 4, "generation: duplicate field"},
        {"1:{14:'a' 1:'n' 14:'b'}", KI_ERR_INVALID, 8,
         "finalizers: elements of a list are not contiguous"},
        {"1:{1:'n' 14:'a' 3:'m' 14:'b'}", KI_ERR_INVALID, 11, "finalizers: elements of a list"},
        {"1:{14:'a' 99:1 14:'b'}", KI_ERR_INVALID, 8,
         "finalizers: elements of a list are not contiguous"},
        {"1:{17:{} 14:'a' 99:1 14:'b'}", KI_ERR_INVALID, 11, "finalizers: elements of a list"},
        {"1:{11:{1:'a'} 12:{1:'b'} 11:{1:'c'}}", KI_ERR_INVALID, 12, "labels: elements of a list"},
        {"1:{11:{1:'a' 1:'b'}}", KI_ERR_INVALID, 7, "labels: duplicate field"},
        {"1:{11:{2:'a' 2:'b'}}", KI_ERR_INVALID, 7, "labels: duplicate field"},
        {"1:{8:{1:1 1:2}}", KI_ERR_INVALID, 6, "creationTimestamp: duplicate field"},
        {"1:{17:{7:{1:'{}' 1:'{}'}}}", KI_ERR_INVALID, 11, "fieldsV1: duplicate field"},
        {"2:{14:{4:1 2:2 4:3}}", KI_ERR_INVALID, 8, "supplementalGroups: elements of a list"},
    };
    CHECK_REFUSED("v1", "Pod", cases);
}

static void special_messages_are_checked_too(void **state)
{
    (void)state;
    static const refused service[] = {
        {"2:{1:{4:{1:'0'}}}", KI_ERR_INVALID, 6, "targetPort: wrong wire type"},
        {"2:{1:{4:{2:'0'}}}", KI_ERR_INVALID, 6, "targetPort: wrong wire type"},
        {"2:{1:{4:{3:0}}}", KI_ERR_INVALID, 6, "targetPort: wrong wire type"},
        {"2:{1:{4:{3:'' 3:''}}}", KI_ERR_INVALID, 8, "targetPort: duplicate field"},
    };
    CHECK_REFUSED("v1", "Service", service);
    static const refused review[] = {
        {"2:{5:{1:'a' 2:{1:7}}}", KI_ERR_INVALID, 9, "extra: wrong wire type"},
        {"2:{5:{1:'a' 2:7}}", KI_ERR_INVALID, 7, "extra: wrong wire type"},
    };
    CHECK_REFUSED("authorization.k8s.io/v1", "SubjectAccessReview", review);
    static const refused definition[] = {
        {"2:{7:{4:{1:{30:{1:'x'}}}}}", KI_ERR_INVALID, 11, "allows: wrong wire type"},
        {"2:{7:{4:{1:{30:{2:7}}}}}", KI_ERR_INVALID, 11, "schema: wrong wire type"},
        {"2:{7:{4:{1:{30:{2:{1:7}}}}}}", KI_ERR_INVALID, 13, "id: wrong wire type"},
        {"2:{7:{4:{1:{24:{1:7}}}}}", KI_ERR_INVALID, 11, "wire type"},
        {"2:{7:{4:{1:{32:{1:'a' 2:{2:7}}}}}}", KI_ERR_INVALID, 16, "wire type"},
        {"2:{7:{4:{1:{29:{1:'a' 2:{1:7}}}}}}", KI_ERR_INVALID, 16, "id: wrong wire type"},
        {"2:{7:{4:{1:{9:1}}}}", KI_ERR_INVALID, 8, "maximum: wrong wire type"},
        {"2:{7:{4:{1:{#4900000000000000}}}}", KI_ERR_SYNTAX, 9, "maximum: message truncated"},
    };
    CHECK_REFUSED("apiextensions.k8s.io/v1", "CustomResourceDefinition", definition);
}

static void any_other_order_and_length_is_valid(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "1:{}",
        "3:{1:'Running'} 2:{10:'n'} 1:{1:'a'}",
        "1:{3:'n' 1:'a' 14:'x' 14:'y' 5:'u' 11:{1:'a'} 11:{2:'b'} 17:{}}",
        "1:{14:'x' 14:'y' 99:1}",
        "1:{99:1 14:'x' 14:'y'}",
        "#8a00 #8300 #0a0161",         /* a tag and a length of more bytes than needed */
        "#8a808000 #848000 #0a026162", /* the same */
        "#0a0b38ffffffffffffffffff01", /* -1 */
        "#0a0b38ffffffffffffffffff7f", /* bits that no number has */
        "1:{11:{2:'v' 1:'k'} 11:{} 11:{9:1 1:'k'}}",
        "1:{8:{2:0 1:5} 9:{} 17:{4:{1:1 2:2}}}",
        "2:{14:{4:1 4:2 4:-3}}",
        "2:{32:{1:'cpu' 2:{1:'1'}} 32:{2:{} 1:'memory'} 32:{1:'x'}}",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        ki_error error = KI_ERROR_INIT;
        if (read_as("v1", "Pod", texts[i], 0, &error) != 0) {
            fail_msg("%s: %s at %zu", texts[i], error.message, error.offset);
        }
    }
}

/* ---- depth ---- */

/* A schema in a schema, `depth` times. */
static void add_nested(ki_buf *out, size_t depth, uint32_t number, bool in_list)
{
    ki_buf inner;
    ki_buf outer;
    ki_buf_init(&inner, NULL, BYTES_MAX);
    test_proto(&inner, "1:'bottom'");
    for (size_t i = 0; i < depth; i++) {
        ki_buf_init(&outer, NULL, BYTES_MAX);
        if (in_list) {
            test_proto_field(&outer, 2, ki_buf_str(&inner));
            ki_buf_clear(&inner);
            assert_int_equal(ki_buf_add_str(&inner, ki_buf_str(&outer)), 0);
            ki_buf_clear(&outer);
        }
        test_proto_field(&outer, number, ki_buf_str(&inner));
        ki_buf_done(&inner);
        inner = outer;
    }
    ki_buf validation;
    ki_buf_init(&validation, NULL, BYTES_MAX);
    ki_buf_init(&outer, NULL, BYTES_MAX);
    test_proto_field(&validation, 1, ki_buf_str(&inner));
    test_proto_field(&outer, 4, ki_buf_str(&validation));
    ki_buf_clear(&validation);
    test_proto_field(&validation, 7, ki_buf_str(&outer));
    test_proto_field(out, 2, ki_buf_str(&validation));
    ki_buf_done(&validation);
    ki_buf_done(&outer);
    ki_buf_done(&inner);
}

typedef struct nested {
    size_t depth;
    uint32_t number;
    bool in_list;
    uint32_t max_depth;
} nested;

static int read_nested(const ki_alloc *alloc, void *user)
{
    const nested *n = user;
    const ki_object_options options = {.alloc = alloc,
                                       .max_depth = n->max_depth,
                                       .default_kind = "CustomResourceDefinition",
                                       .default_api_version = "apiextensions.k8s.io/v1"};
    ki_buf bytes;
    ki_object *object = NULL;
    ki_error error = KI_ERROR_INIT;
    ki_buf_init(&bytes, NULL, BYTES_MAX);
    add_nested(&bytes, n->depth, n->number, n->in_list);
    int r = ki_object_from_protobuf(bytes.data, bytes.len, &options, &object, &error);
    assert_int_equal(error.code, r);
    if (r == 0) {
        assert_true(ki_object_is_complete(object));
        ki_object_unref(object);
    }
    ki_buf_done(&bytes);
    return r;
}

static int read_depth(size_t depth, uint32_t number, bool in_list, uint32_t max_depth)
{
    nested n = {depth, number, in_list, max_depth};
    return read_nested(NULL, &n);
}

/* The schema at the top has 6 around it: the object, spec, versions, one of them, and schema. */
enum { AROUND = 6 };

static void messages_nest_up_to_the_limit(void **state)
{
    (void)state;
    enum { NOT = 28, ALL_OF = 25, PROPERTIES = 29, OR_BOOL = 30 };
    assert_int_equal(read_depth(128 - AROUND, NOT, false, 0), 0);
    assert_int_equal(read_depth(128 - AROUND + 1, NOT, false, 0), KI_ERR_DEPTH);
    assert_int_equal(read_depth(10, NOT, false, AROUND + 10), 0);
    assert_int_equal(read_depth(11, NOT, false, AROUND + 10), KI_ERR_DEPTH);
    assert_int_equal(read_depth(1024 - AROUND, NOT, false, 1024), 0);
    assert_int_equal(read_depth(1025 - AROUND, NOT, false, 1024), KI_ERR_DEPTH);
    /* Lists and maps count as JSON counts them; what is a schema or a bool does not. */
    assert_int_equal(read_depth(10, ALL_OF, false, AROUND + 20), 0);
    assert_int_equal(read_depth(11, ALL_OF, false, AROUND + 20), KI_ERR_DEPTH);
    assert_int_equal(read_depth(10, PROPERTIES, true, AROUND + 20), 0);
    assert_int_equal(read_depth(11, PROPERTIES, true, AROUND + 20), KI_ERR_DEPTH);
    assert_int_equal(read_depth(10, OR_BOOL, true, AROUND + 10), 0);
    assert_int_equal(read_depth(11, OR_BOOL, true, AROUND + 10), KI_ERR_DEPTH);
    assert_int_equal(read_depth(1018, OR_BOOL, true, 1024), 0);
}

static void deep_messages_survive_every_failed_allocation(void **state)
{
    (void)state;
    nested n = {300, 28, false, 1024};
    test_alloc_sweep(read_nested, &n);
    n = (nested){200, 29, true, 1024};
    test_alloc_sweep(read_nested, &n);
}

/* ---- ends ---- */

static void cutting_anywhere_is_refused_or_whole(void **state)
{
    (void)state;
    const ki_object_options options = {.default_kind = "Pod", .default_api_version = "v1"};
    ki_buf bytes;
    ki_buf_init(&bytes, NULL, BYTES_MAX);
    test_proto(&bytes, "1:{1:'web' 3:'ns' 7:300 8:{1:1700000000 2:0} 11:{1:'app' 2:'web'} 14:'f'}"
                       "2:{1:{1:'v' 2:{6:{1:'s'}}} 2:{1:'c' 6:{3:80} 8:{1:{1:'cpu' 2:{1:'1'}}}}}"
                       "3:{1:'Running' 7:{1:5} 17:3}");
    for (size_t len = 0; len <= bytes.len; len++) {
        char *exact = malloc(len != 0 ? len : 1);
        assert_non_null(exact);
        memcpy(exact, bytes.data, len);
        ki_object *object = NULL;
        ki_error error = KI_ERROR_INIT;
        int r = ki_object_from_protobuf(exact, len, &options, &object, &error);
        if (r == 0) {
            ki_object_unref(object);
        } else {
            assert_int_equal(r, KI_ERR_SYNTAX);
            assert_true(error.offset <= len);
        }
        free(exact);
    }
    ki_buf_done(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(malformed_tags_are_refused),
        cmocka_unit_test(wrong_wire_types_are_refused),
        cmocka_unit_test(what_is_cut_off_is_refused),
        cmocka_unit_test(duplicates_are_rejected),
        cmocka_unit_test(special_messages_are_checked_too),
        cmocka_unit_test(any_other_order_and_length_is_valid),
        cmocka_unit_test(messages_nest_up_to_the_limit),
        cmocka_unit_test(deep_messages_survive_every_failed_allocation),
        cmocka_unit_test(cutting_anywhere_is_refused_or_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
