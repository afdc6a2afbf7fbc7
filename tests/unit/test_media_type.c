/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"
#include "wire/media_type.h"

static void is(const char *content_type, ki_encoding expected)
{
    ki_encoding encoding = KI_ENCODING_MAX;
    assert_int_equal(ki__media_type_encoding(content_type, &encoding, NULL), 0);
    assert_int_equal(encoding, expected);
}

static void json_and_protobuf_are_known_with_any_parameters(void **state)
{
    (void)state;
    is("application/json", KI_ENCODING_JSON);
    is("application/json;stream=watch", KI_ENCODING_JSON);
    is("application/json; charset=utf-8", KI_ENCODING_JSON);
    is(" Application/JSON\t; x", KI_ENCODING_JSON);
    is("application/vnd.kubernetes.protobuf", KI_ENCODING_PROTOBUF);
    is("application/vnd.kubernetes.protobuf;stream=watch", KI_ENCODING_PROTOBUF);
    is("application/vnd.Kubernetes.Protobuf ;as=PartialObjectMetadataList", KI_ENCODING_PROTOBUF);
}

static void no_content_type_means_json(void **state)
{
    (void)state;
    is(NULL, KI_ENCODING_JSON);
    is("", KI_ENCODING_JSON);
    is("  ", KI_ENCODING_JSON);
    is(";stream=watch", KI_ENCODING_JSON);
}

static void other_types_are_refused_by_name(void **state)
{
    (void)state;
    const char *const types[] = {"text/html",       "application/cbor",  "application/yaml",
                                 "application/jso", "application/jsonx", "*/*"};
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        ki_encoding encoding = KI_ENCODING_MAX;
        ki_error error = KI_ERROR_INIT;
        assert_int_equal(ki__media_type_encoding(types[i], &encoding, &error), KI_ERR_UNSUPPORTED);
        assert_int_equal(encoding, KI_ENCODING_MAX);
        assert_non_null(strstr(error.message, types[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_and_protobuf_are_known_with_any_parameters),
        cmocka_unit_test(no_content_type_means_json),
        cmocka_unit_test(other_types_are_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
