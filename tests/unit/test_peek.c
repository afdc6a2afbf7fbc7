/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "support/test.h"
#include "support/wire.h"
#include "wire/peek.h"

static void tells(ki_encoding encoding, ki_str bytes, const char *key, const char *version)
{
    ki_buf found;
    ki_buf found_version;
    ki_buf_init(&found, NULL, 4096);
    ki_buf_init(&found_version, NULL, 4096);
    assert_int_equal(ki__peek(encoding, bytes, &found, &found_version), 0);
    if (strcmp(ki_buf_text(&found), key) != 0 ||
        strcmp(ki_buf_text(&found_version), version) != 0) {
        fail_msg("%.*s gave %s@%s", KI_STR_ARG(bytes), ki_buf_text(&found),
                 ki_buf_text(&found_version));
    }
    ki_buf_done(&found);
    ki_buf_done(&found_version);
}

static void json_tells(const char *text, const char *key, const char *version)
{
    ki_buf bytes;
    ki_buf_init(&bytes, NULL, SIZE_MAX);
    test_quote(&bytes, text);
    tells(KI_ENCODING_JSON, ki_buf_str(&bytes), key, version);
    ki_buf_done(&bytes);
}

static void the_key_is_read_past_what_is_malformed(void **state)
{
    (void)state;
    json_tells("{'spec':[1,,2],'metadata':{'name':'a','namespace':'n','resourceVersion':'7'}}",
               "n/a", "7");
    json_tells("{'metadata':{'labels':{x},'name':'a'}}", "a", "");
    json_tells("{'m\\u0065tadata':{'n\\u0061me':'\\u0061'}}", "a", "");
    json_tells("{'metadata':{'name':'a','namespace':null}} junk", "a", "");
}

static void the_key_is_read_from_the_beginning_alone_if_it_is_certain(void **state)
{
    (void)state;
    json_tells("{'metadata':{'name':'a','namespace':'n','resourceVersion':'7','x':", "n/a", "7");
    json_tells("{'metadata':{'name':'a'", "", ""); /* a namespace may have followed */
    json_tells("{'metadata':{'name':'a'}", "a", "");
    json_tells("{'metadata':{'name':'a','namespace':'n", "", "");
}

static void duplicate_or_invalid_fields_are_unknown(void **state)
{
    (void)state;
    json_tells("{'metadata':{'name':'a','name':'b'}}", "", "");
    json_tells("{'metadata':{'name':'a','namespace':'n','namespace':'m'}}", "", "");
    json_tells("{'metadata':{'name':'a','resourceVersion':'1','resourceVersion':'2'}}", "a", "");
    json_tells("{'metadata':{'name':'a'},'metadata':{}}", "", "");
    json_tells("{'metadata':{'name':'a/b'}}", "", "");
    json_tells("{'metadata':{'name':'a\\u0000'}}", "", "");
    json_tells("{'metadata':{'name':'a','namespace':5}}", "", "");
    json_tells("{'metadata':{'name':'a','namespace':'\\q'}}", "", "");
    json_tells("{'metadata':['name','a']}", "", "");
    json_tells("{'metadata':'name'}", "", "");
    json_tells("{'x':{'metadata':{'name':'a'}}}", "", "");
    json_tells("['metadata',{'name':'a'}]", "", "");
    json_tells("", "", "");
    json_tells("12", "", "");
}

static void a_name_over_the_limit_is_not_known(void **state)
{
    (void)state;
    ki_buf bytes;
    ki_buf_init(&bytes, NULL, SIZE_MAX);
    test_quote(&bytes, "{'metadata':{'resourceVersion':'1','name':'");
    test_add(&bytes, "0123456789", 103);
    test_add(&bytes, "\"}}", 1);
    tells(KI_ENCODING_JSON, ki_buf_str(&bytes), "", "1");
    ki_buf_done(&bytes);
}

static void protobuf_tells_with_and_without_an_envelope(void **state)
{
    (void)state;
    ki_buf message;
    ki_buf bytes;
    ki_buf_init(&message, NULL, SIZE_MAX);
    ki_buf_init(&bytes, NULL, SIZE_MAX);
    test_put_object(&message, "n", "a", "7");
    test_put_bytes(&message, 2, ki_str_from("spec"));
    tells(KI_ENCODING_PROTOBUF, ki_buf_str(&message), "n/a", "7");
    test_put_envelope(&bytes, "v1", "Pod", ki_buf_str(&message));
    tells(KI_ENCODING_PROTOBUF, ki_buf_str(&bytes), "n/a", "7");
    test_add(&message, "\x0f", 1); /* malformed from here on */
    tells(KI_ENCODING_PROTOBUF, ki_buf_str(&message), "n/a", "7");
    test_put_object(&message, "n", "b", NULL);
    tells(KI_ENCODING_PROTOBUF, ki_buf_str(&message), "n/a", "7");
    ki_buf_clear(&message);
    test_put_object(&message, "", "a", ""); /* Go writes what is empty */
    tells(KI_ENCODING_PROTOBUF, ki_buf_str(&message), "a", "");
    test_put_object(&message, "n", "a", "7"); /* metadata twice */
    tells(KI_ENCODING_PROTOBUF, ki_buf_str(&message), "", "");
    ki_buf_clear(&message);
    test_put_object(&message, "n", "a\xff", "7");
    tells(KI_ENCODING_PROTOBUF, ki_buf_str(&message), "", "7");
    ki_buf_done(&message);
    ki_buf_done(&bytes);
}

static int peek(const ki_alloc *alloc, void *user)
{
    ki_buf key;
    ki_buf version;
    ki_buf_init(&key, alloc, 4096);
    ki_buf_init(&version, alloc, 4096);
    int r = ki__peek(KI_ENCODING_JSON, ki_str_from(user), &key, &version);
    if (r == 0) {
        assert_string_equal(ki_buf_text(&key), "n/a");
        assert_string_equal(ki_buf_text(&version), "7");
    }
    ki_buf_done(&key);
    ki_buf_done(&version);
    return r;
}

static void out_of_memory_is_reported(void **state)
{
    (void)state;
    char text[] = "{\"metadata\":{\"name\":\"a\",\"namespace\":\"n\",\"resourceVersion\":\"7\"}}";
    test_alloc_sweep(peek, text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_key_is_read_past_what_is_malformed),
        cmocka_unit_test(the_key_is_read_from_the_beginning_alone_if_it_is_certain),
        cmocka_unit_test(duplicate_or_invalid_fields_are_unknown),
        cmocka_unit_test(a_name_over_the_limit_is_not_known),
        cmocka_unit_test(protobuf_tells_with_and_without_an_envelope),
        cmocka_unit_test(out_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
