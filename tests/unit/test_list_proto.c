/* SPDX-License-Identifier: Apache-2.0 */
/* Lists in protobuf. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/test.h"
#include "support/wire.h"

static const ki__wire_options plain = {.encoding = KI_ENCODING_PROTOBUF};

/* A list in the making. */
typedef struct list {
    ki_buf content;
    ki_buf body;
} list;

static void begin(list *l)
{
    ki_buf_init(&l->content, NULL, SIZE_MAX);
    ki_buf_init(&l->body, NULL, SIZE_MAX);
}

static void put_metadata(list *l, const char *version, const char *token, uint64_t remaining)
{
    ki_buf metadata;
    ki_buf_init(&metadata, NULL, SIZE_MAX);
    test_put_text(&metadata, 1, "");
    test_put_text(&metadata, 2, version);
    test_put_text(&metadata, 3, token);
    if (remaining != 0) {
        test_put_number(&metadata, 4, remaining);
    }
    test_put_bytes(&l->content, 1, ki_buf_str(&metadata));
    ki_buf_done(&metadata);
}

static void put_item(list *l, const char *name_space, const char *name, const char *version)
{
    ki_buf item;
    ki_buf_init(&item, NULL, SIZE_MAX);
    test_put_object(&item, name_space, name, version);
    test_put_bytes(&l->content, 2, ki_buf_str(&item));
    ki_buf_done(&item);
}

/* Puts the envelope around it, checks what becomes of it, and forgets it. */
static void list_is(list *l, const ki__wire_options *options, const char *api_version,
                    const char *kind, const char *expected)
{
    test_put_envelope(&l->body, api_version, kind, ki_buf_str(&l->content));
    test_trace_is(test_trace_list, options, ki_buf_str(&l->body), expected);
    ki_buf_done(&l->content);
    ki_buf_done(&l->body);
}

static void body_is(const char *bytes, size_t len, const char *expected)
{
    test_trace_is(test_trace_list, &plain, ki_str_make(bytes, len), expected);
}

/* ---- lists ---- */

static void items_come_one_by_one_with_the_kind_of_the_list(void **state)
{
    (void)state;
    list l;
    begin(&l);
    put_metadata(&l, "9", "", 0);
    put_item(&l, "n", "a", "5");
    put_item(&l, "", "b", "6");
    list_is(&l, &plain, "v1", "PodList",
            "n/a@5 Pod v1\nb@6 Pod v1\n"
            "complete PodList v1 @9 continue= remaining=-1 objects=2 aside=0\n");
}

static void metadata_is_found_wherever_it_stands(void **state)
{
    (void)state;
    list l;
    begin(&l);
    put_item(&l, "n", "a", "5");
    put_metadata(&l, "9", "token", 17);
    list_is(&l, &plain, "apps/v1", "DeploymentList",
            "n/a@5 Deployment apps/v1\n"
            "complete DeploymentList apps/v1 @9 continue=token remaining=17 objects=1 aside=0\n");
    begin(&l);
    list_is(&l, &plain, "v1", "PodList",
            "complete PodList v1 @ continue= remaining=-1 objects=0 aside=0\n");
}

static void unknown_fields_are_passed_over(void **state)
{
    (void)state;
    list l;
    begin(&l);
    test_put_number(&l.content, 7, 300);
    put_metadata(&l, "9", "", 0);
    test_put_text(&l.content, 3, "x");
    put_item(&l, "n", "a", "5");
    test_put_text(&l.content, 100, "");
    list_is(&l, &plain, "v1", "PodList",
            "n/a@5 Pod v1\ncomplete PodList v1 @9 continue= remaining=-1 objects=1 aside=0\n");
}

static void a_list_of_partial_metadata_is_a_list(void **state)
{
    (void)state;
    list l;
    begin(&l);
    put_item(&l, "n", "a", "5");
    list_is(&l, &plain, "meta.k8s.io/v1", "PartialObjectMetadataList",
            "n/a@5 PartialObjectMetadata meta.k8s.io/v1\ncomplete PartialObjectMetadataList "
            "meta.k8s.io/v1 @ continue= remaining=-1 objects=1 aside=0\n");
}

/* ---- what is no list ---- */

static void something_else_than_a_list_is_refused(void **state)
{
    (void)state;
    list l;
    begin(&l);
    test_put_object(&l.content, "n", "a", "5");
    list_is(&l, &plain, "v1", "Pod",
            "failed KI_ERR_INVALID 0  at 0: the response is not a list but a Pod of v1\n");
    begin(&l);
    list_is(&l, &plain, "", "",
            "failed KI_ERR_INVALID 0  at 0: the response is not a list: kind is missing\n");
    begin(&l);
    list_is(&l, &plain, "v1", "List",
            "failed KI_ERR_UNSUPPORTED 0  at 0: the response is a List of mixed kinds, which is "
            "not supported in protobuf\n");
    begin(&l);
    list_is(
        &l, &plain, "meta.k8s.io/v1", "Table",
        "failed KI_ERR_UNSUPPORTED 0  at 0: the server responded with a Table instead of objects; "
        "remove as=Table from the Accept header\n");
    body_is("{\"kind\"}", 8,
            "failed KI_ERR_SYNTAX 0  at 0: missing magic number of Kubernetes protobuf\n");
    body_is("k8s", 4, "failed KI_ERR_TRUNCATED 0  at 4: list truncated\n");
    body_is("", 0, "failed KI_ERR_TRUNCATED 0  at 0: list truncated\n");
    /* The content before its type. */
    body_is("k8s\0\x12\x00\x0a\x00", 8,
            "failed KI_ERR_INVALID 0  at 0: the response is not a list: kind is missing\n");
}

static void what_is_not_fit_to_print_is_not_in_the_message(void **state)
{
    (void)state;
    list l;
    begin(&l);
    list_is(&l, &plain, "v\x1b[2J", "Po\nd\xff",
            "failed KI_ERR_INVALID 0  at 0: the response is not a list but a Po d? of v?[2J\n");
    ki__wire_options pods = plain;
    pods.expected_kind = "Pod";
    begin(&l);
    list_is(&l, &pods, "v1", "\x07List",
            "failed KI_ERR_TYPE 0  at 0: unexpected kind of list: ?List of v1\n");
}

static void a_list_of_another_kind_is_refused(void **state)
{
    (void)state;
    ki__wire_options nodes = plain;
    nodes.expected_kind = "Node";
    list l;
    begin(&l);
    put_item(&l, "n", "a", "5");
    list_is(&l, &nodes, "v1", "PodList",
            "failed KI_ERR_TYPE 0  at 0: unexpected kind of list: PodList of v1\n");
}

static void put_status(ki_buf *content)
{
    ki_buf details;
    ki_buf_init(&details, NULL, SIZE_MAX);
    test_put_number(&details, 5, 3);
    test_put_bytes(content, 1, ki_str_from(""));
    test_put_text(content, 2, "Failure");
    test_put_text(content, 3, "too old resource version");
    test_put_text(content, 4, "Expired");
    test_put_bytes(content, 5, ki_buf_str(&details));
    test_put_number(content, 6, 410);
    ki_buf_done(&details);
}

static void a_status_in_place_of_the_list_is_its_error(void **state)
{
    (void)state;
    list l;
    begin(&l);
    put_status(&l.content);
    list_is(&l, &plain, "v1", "Status",
            "failed KI_ERR_STATUS 410 Expired at 0: too old resource version\n");
    begin(&l);
    test_put_text(&l.content, 2, "Success");
    list_is(&l, &plain, "v1", "Status",
            "failed KI_ERR_INVALID 0  at 0: the response is not a list but a Status of v1\n");
    begin(&l);
    test_add(&l.content, "\x0f", 1);
    ki_buf_init(&l.body, NULL, SIZE_MAX);
    test_put_envelope(&l.body, "v1", "Status", ki_buf_str(&l.content));
    ki_buf trace;
    ki_buf_init(&trace, NULL, SIZE_MAX);
    assert_int_equal(test_trace_list(&plain, ki_buf_str(&l.body), test_cut_none, NULL, &trace),
                     KI_ERR_SYNTAX);
    ki_buf_done(&trace);
    ki_buf_done(&l.content);
    ki_buf_done(&l.body);
}

static void a_content_that_is_encoded_is_refused(void **state)
{
    (void)state;
    static const struct {
        uint32_t field;
        const char *text;
        const char *end;
    } cases[] = {
        {3, "gzip", "failed KI_ERR_UNSUPPORTED 0  at 0: envelope: unsupported encoding gzip\n"},
        {4, "application/json",
         "failed KI_ERR_UNSUPPORTED 0  at 0: envelope: unsupported type "
         "application/json\n"},
        {4, "application/vnd.kubernetes.protobuf",
         "complete PodList v1 @ continue= remaining=-1 objects=0 aside=0\n"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ki_buf body;
        ki_buf_init(&body, NULL, SIZE_MAX);
        test_put_envelope(&body, "v1", "PodList", ki_str_from(""));
        body.len -= 4; /* without those two fields */
        test_put_text(&body, cases[i].field, cases[i].text);
        test_trace_is(test_trace_list, &plain, ki_buf_str(&body), cases[i].end);
        ki_buf_done(&body);
    }
}

static void fields_of_the_list_must_not_be_duplicate(void **state)
{
    (void)state;
    list l;
    begin(&l);
    put_metadata(&l, "9", "", 0);
    put_metadata(&l, "9", "", 0);
    list_is(&l, &plain, "v1", "PodList", "failed KI_ERR_INVALID 0  at 0: list: duplicate field\n");
    ki_buf body;
    ki_buf_init(&body, NULL, SIZE_MAX);
    test_put_envelope(&body, "v1", "PodList", ki_str_from(""));
    test_put_text(&body, 2, "");
    test_trace_is(test_trace_list, &plain, ki_buf_str(&body),
                  "failed KI_ERR_INVALID 0  at 0: list: duplicate field\n");
    ki_buf_done(&body);
}

/* Passed over, items or a version that are there would be taken for none. */
static void fields_of_the_wrong_wire_type_are_refused(void **state)
{
    (void)state;
    static const struct {
        uint32_t field; /* of the content; 0: of the metadata */
        const char *bytes;
        size_t len;
    } cases[] = {
        {1, "\x08\x01", 2}, /* metadata, a varint */
        {1, "\x10\x01", 2}, /* items, a varint */
        {1, "\x11zzzzzzzz", 9}, {1, "\x15zzzz", 5},
        {0, "\x10\x01", 2}, /* resourceVersion, a varint */
        {0, "\x1dzzzz", 5}, /* continue, fixed */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        list l;
        begin(&l);
        ki_str bytes = ki_str_make(cases[i].bytes, cases[i].len);
        if (cases[i].field == 0) {
            test_put_bytes(&l.content, 1, bytes);
        } else {
            assert_int_equal(ki_buf_add_str(&l.content, bytes), 0);
        }
        list_is(&l, &plain, "v1", "PodList",
                "failed KI_ERR_INVALID 0  at 0: list: wrong wire type\n");
    }
    body_is("k8s\0\x08\x01", 6, "failed KI_ERR_INVALID 0  at 0: list: wrong wire type\n");
}

/* ---- poison ---- */

static void one_bad_item_is_skipped_and_the_rest_continues(void **state)
{
    (void)state;
    static const char good[] = "n/a@5 Pod v1\n";
    static const struct {
        const char *bytes; /* of the item, after an object n/p@7 */
        size_t len;
    } cases[] = {
        {"\x0f", 1},              /* no such wire type */
        {"\x12\x05x", 3},         /* cut off */
        {"\x00", 1},              /* no such field */
        {"\x0b\x0c", 2},          /* a group */
        {"\x10\x01", 2},          /* spec as a number */
        {"\x12\x03\x0a\x05x", 5}, /* malformed further down */
        {"\x12\x00\x12\x00", 4},  /* spec twice */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        list l;
        ki_buf item;
        ki_buf trace;
        begin(&l);
        ki_buf_init(&item, NULL, SIZE_MAX);
        ki_buf_init(&trace, NULL, SIZE_MAX);
        put_item(&l, "n", "a", "5");
        test_put_object(&item, "n", "p", "7");
        assert_int_equal(ki_buf_add(&item, cases[i].bytes, cases[i].len), 0);
        test_put_bytes(&l.content, 2, ki_buf_str(&item));
        put_item(&l, "n", "a", "5");
        test_put_envelope(&l.body, "v1", "PodList", ki_buf_str(&l.content));
        assert_int_equal(test_trace_list(&plain, ki_buf_str(&l.body), test_cut_none, NULL, &trace),
                         0);
        const char *text = ki_buf_text(&trace);
        assert_int_equal(strncmp(text, good, strlen(good)), 0);
        assert_int_equal(strncmp(text + strlen(good), "aside n/p@7 KI_ERR_", 19), 0);
        assert_non_null(strstr(text + strlen(good), good));
        assert_non_null(strstr(text, "objects=2 aside=1\n"));
        test_trace_is_stable(test_trace_list, &plain, ki_buf_str(&l.body));
        ki_buf_done(&trace);
        ki_buf_done(&item);
        ki_buf_done(&l.content);
        ki_buf_done(&l.body);
    }
}

static void an_item_without_a_name_or_over_the_limit_is_skipped(void **state)
{
    (void)state;
    ki__wire_options small = plain;
    small.max_bytes = 40;
    list l;
    begin(&l);
    test_put_text(&l.content, 2, "");
    put_item(&l, "n", NULL, "3");
    put_item(&l, "namespace-that-is-long", "and-a-name", "7");
    put_item(&l, "n", "a", "5");
    list_is(&l, &small, "v1", "PodList",
            "aside @ KI_ERR_KEY: object without metadata.name\n"
            "aside @3 KI_ERR_KEY: object without metadata.name\n"
            "aside namespace-that-is-long/and-a-name@ KI_ERR_LIMIT: item too large: 41 bytes, "
            "limit 40\n"
            "n/a@5 Pod v1\ncomplete PodList v1 @ continue= remaining=-1 objects=1 aside=3\n");
}

static void what_is_wrong_with_the_list_itself_ends_it(void **state)
{
    (void)state;
    list l;
    begin(&l);
    put_item(&l, "n", "a", "5");
    test_add(&l.content, "\x0f", 1);
    list_is(&l, &plain, "v1", "PodList",
            "n/a@5 Pod v1\nfailed KI_ERR_SYNTAX 0  at 35: unsupported wire type\n");
    begin(&l);
    put_item(&l, "n", "a", "5");
    assert_int_equal(ki_buf_add(&l.content, "\x12\x50", 2), 0);
    list_is(&l, &plain, "v1", "PodList",
            "n/a@5 Pod v1\nfailed KI_ERR_SYNTAX 0  at 36: field exceeds its message\n");
}

/* ---- ends and memory ---- */

static void a_body_cut_anywhere_gives_the_items_so_far_and_says_so(void **state)
{
    (void)state;
    list l;
    begin(&l);
    put_metadata(&l, "9", "", 0);
    put_item(&l, "n", "a", "5");
    put_item(&l, "n", "b", "6");
    test_put_envelope(&l.body, "v1", "PodList", ki_buf_str(&l.content));
    for (size_t len = 0; len < l.body.len; len++) {
        ki_buf trace;
        ki_buf_init(&trace, NULL, SIZE_MAX);
        int r = test_trace_list(&plain, ki_str_make(l.body.data, len), test_cut_none, NULL, &trace);
        /* Two empty fields follow the content, of two bytes each; none of them is needed. */
        bool complete = len == l.body.len - 4 || len == l.body.len - 2;
        assert_int_equal(r, complete ? 0 : KI_ERR_TRUNCATED);
        bool b = strstr(ki_buf_text(&trace), "n/b@6 Pod v1\n") != NULL;
        assert_int_equal(b, len >= l.body.len - 4);
        ki_buf_done(&trace);
    }
    ki_buf_done(&l.content);
    ki_buf_done(&l.body);
}

static void random_bytes_are_the_same_in_any_pieces(void **state)
{
    (void)state;
    uint64_t seed = 13;
    for (int round = 0; round < 400; round++) {
        list l;
        begin(&l);
        put_metadata(&l, "9", "t", 3);
        put_item(&l, "n", "a", "5");
        put_item(&l, "n", "b", "6");
        test_put_envelope(&l.body, "v1", "PodList", ki_buf_str(&l.content));
        for (uint64_t left = test_random(&seed) % 3; left != 0; left--) {
            uint64_t bits = test_random(&seed);
            l.body.data[(bits >> 8) % l.body.len] = (char)bits;
        }
        test_trace_is_stable(test_trace_list, &plain, ki_buf_str(&l.body));
        ki_buf_done(&l.content);
        ki_buf_done(&l.body);
    }
}

static int decode(const ki_alloc *alloc, void *user)
{
    const ki_str *body = user;
    ki__wire_options options = plain;
    options.alloc = alloc;
    ki__list_decoder decoder;
    ki__list_decoder_init(&decoder, &options);
    int r = 0;
    for (size_t at = 0; at < body->len && r >= 0;) {
        ki__wire_item item;
        size_t taken;
        size_t len = body->len - at < 9 ? body->len - at : 9;
        r = ki__list_decoder_feed(&decoder, body->ptr + at, len, &taken, &item, NULL);
        if (r == 1) {
            assert_true(item.object != NULL || item.error.code != -ENOMEM);
            ki_object_unref(item.object);
        }
        at += taken;
    }
    r = r >= 0 ? ki__list_decoder_finish(&decoder, NULL) : r;
    ki__list_decoder_done(&decoder);
    return r == KI_ERR_STATUS ? 0 : r;
}

static void a_lack_of_memory_fails_and_sets_nothing_aside(void **state)
{
    (void)state;
    list l;
    begin(&l);
    put_metadata(&l, "9", "t", 3);
    put_item(&l, "n", "a", "5");
    test_put_text(&l.content, 2, "\x0f");
    put_item(&l, "n", NULL, "6");
    test_put_envelope(&l.body, "v1", "PodList", ki_buf_str(&l.content));
    ki_str body = ki_buf_str(&l.body);
    test_alloc_sweep(decode, &body);
    ki_buf_clear(&l.content);
    ki_buf_clear(&l.body);
    put_status(&l.content);
    test_put_envelope(&l.body, "v1", "Status", ki_buf_str(&l.content));
    body = ki_buf_str(&l.body);
    test_alloc_sweep(decode, &body);
    ki_buf_done(&l.content);
    ki_buf_done(&l.body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_come_one_by_one_with_the_kind_of_the_list),
        cmocka_unit_test(metadata_is_found_wherever_it_stands),
        cmocka_unit_test(unknown_fields_are_passed_over),
        cmocka_unit_test(a_list_of_partial_metadata_is_a_list),
        cmocka_unit_test(something_else_than_a_list_is_refused),
        cmocka_unit_test(what_is_not_fit_to_print_is_not_in_the_message),
        cmocka_unit_test(a_list_of_another_kind_is_refused),
        cmocka_unit_test(a_status_in_place_of_the_list_is_its_error),
        cmocka_unit_test(a_content_that_is_encoded_is_refused),
        cmocka_unit_test(fields_of_the_list_must_not_be_duplicate),
        cmocka_unit_test(fields_of_the_wrong_wire_type_are_refused),
        cmocka_unit_test(one_bad_item_is_skipped_and_the_rest_continues),
        cmocka_unit_test(an_item_without_a_name_or_over_the_limit_is_skipped),
        cmocka_unit_test(what_is_wrong_with_the_list_itself_ends_it),
        cmocka_unit_test(a_body_cut_anywhere_gives_the_items_so_far_and_says_so),
        cmocka_unit_test(random_bytes_are_the_same_in_any_pieces),
        cmocka_unit_test(a_lack_of_memory_fails_and_sets_nothing_aside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
