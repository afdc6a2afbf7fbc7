/* SPDX-License-Identifier: Apache-2.0 */
/* ExecCredential objects: what plugins receive, and how their responses are read. */
#include <stdlib.h>
#include <string.h>

#include "client/auth/exec_credential.h"
#include "object/json/json_skip.h"
#include "support/configs.h"

#define V1 "client.authentication.k8s.io/v1"
#define BETA "client.authentication.k8s.io/v1beta1"
#define HEAD "{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1 "\",\"status\":"

static int read_text(const char *text, size_t len, const ki_alloc *alloc,
                     ki__exec_credential *ret_credential, ki__secrets *secrets, ki_error *error)
{
    char *padded = calloc(1, len + KI__JSON_PADDING);
    assert_non_null(padded);
    memcpy(padded, text, len);
    ki__secrets_init(secrets, alloc);
    int r = ki__exec_credential_read(ki_str_make(padded, len), V1, secrets, ret_credential, error);
    memset(padded, 'x', len); /* nothing of it is used any more */
    free(padded);
    return r;
}

static void good_answers_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *token;
        const char *certificate;
        const char *key;
        int64_t expires; /* 0: never */
    } cases[] = {
        {HEAD "{\"token\":\"t\"}}", "t", "", "", 0},
        {HEAD "{\"token\":\"t\",\"expirationTimestamp\":null,\"clientKeyData\":\"\"}}\n", "t", "",
         "", 0},
        {HEAD "{\"token\":\"a\\/\\u0062c\",\"expirationTimestamp\":\"1970-01-02T00:00:00Z\"}}",
         "a/bc", "", "", 86400},
        {HEAD "{\"clientCertificateData\":\"C\\n\",\"clientKeyData\":\"K\\n\"}}", "", "C\n", "K\n",
         0},
        {HEAD "{\"token\":\"t\",\"clientCertificateData\":\"C\",\"clientKeyData\":\"K\","
              "\"expirationTimestamp\":\"1970-01-01T01:00:00+01:00\"}}",
         "t", "C", "K", 0},
        {" {\"status\":{\"token\":\"t\",\"more\":[1]},\"apiVersion\":\"" V1
         "\",\"more\":{},\"kind\":\"ExecCredential\"} ",
         "t", "", "", 0},
        {HEAD "{\"token\":\"\xc3\xa4\"}}", "\xc3\xa4", "", "", 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ki__exec_credential credential = {0};
        ki__secrets secrets;
        ki_error error = KI_ERROR_INIT;
        int r =
            read_text(cases[i].text, strlen(cases[i].text), NULL, &credential, &secrets, &error);
        if (r < 0) {
            fail_msg("%s: %s", cases[i].text, error.message);
        }
        assert_str(credential.token, cases[i].token);
        assert_str(credential.certificate, cases[i].certificate);
        assert_str(credential.key, cases[i].key);
        assert_int_equal(credential.expires_at, cases[i].expires);
        ki__secrets_done(&secrets);
    }
}

static void bad_answers_are_refused_without_a_word_of_them(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int code;
        const char *says;
    } cases[] = {
        {"CANARY", KI_ERR_SYNTAX, "not JSON"},
        {"", KI_ERR_SYNTAX, "not JSON"},
        {"error: CANARY\n", KI_ERR_SYNTAX, "not JSON"},
        {"[\"CANARY\"]", KI_ERR_TYPE, "not a JSON object"},
        {"\"CANARY\"", KI_ERR_TYPE, "not a JSON object"},
        {HEAD "{\"token\":\"CANARY\"}", KI_ERR_SYNTAX, "not JSON"},
        {HEAD "{\"token\":\"CANARY\"}}}", KI_ERR_SYNTAX, "not JSON"},
        {HEAD "{\"token\":\"CANARY\"}}{}", KI_ERR_SYNTAX, "not JSON"},
        {HEAD "{\"token\":\"CANARY\xff\"}}", KI_ERR_ENCODING, "not JSON"},
        {HEAD "{\"token\":\"CANARY\\q\"}}", KI_ERR_ENCODING, "not JSON"},
        {"{}", KI_ERR_INVALID, "kind"},
        {"{\"kind\":\"CANARY\",\"apiVersion\":\"" V1 "\"}", KI_ERR_INVALID, "kind"},
        {"{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"message\":\"CANARY\"}", KI_ERR_INVALID,
         "kind"},
        {"{\"kind\":\"ExecCredential\",\"apiVersion\":\"CANARY\"}", KI_ERR_INVALID, "apiVersion"},
        {"{\"kind\":\"ExecCredential\",\"apiVersion\":\"" BETA
         "\",\"status\":{\"token\":\"CANARY\"}}",
         KI_ERR_INVALID, V1},
        {"{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1 "\"}", KI_ERR_INVALID,
         "status is missing"},
        {HEAD "null}", KI_ERR_INVALID, "status is missing"},
        {HEAD "\"CANARY\"}", KI_ERR_INVALID, "status is missing"},
        {HEAD "{}}", KI_ERR_INVALID, "neither"},
        {HEAD "{\"token\":\"\"}}", KI_ERR_INVALID, "neither"},
        {HEAD "{\"token\":{\"CANARY\":1}}}", KI_ERR_TYPE, "token"},
        {HEAD "{\"token\":12345678}}", KI_ERR_TYPE, "token"},
        {HEAD "{\"token\":\"CANARY\\n\"}}", KI_ERR_INVALID, "header"},
        {HEAD "{\"token\":\"CANARY\\r\\nX: y\"}}", KI_ERR_INVALID, "header"},
        {HEAD "{\"token\":\"CANARY\\u0000\"}}", KI_ERR_INVALID, "NUL"},
        {HEAD "{\"token\":\"CANARY\\u007f\"}}", KI_ERR_INVALID, "header"},
        {HEAD "{\"clientCertificateData\":\"CANARY\"}}", KI_ERR_INVALID, "must be given together"},
        {HEAD "{\"clientKeyData\":\"CANARY\"}}", KI_ERR_INVALID, "must be given together"},
        {HEAD "{\"token\":\"t\",\"clientKeyData\":\"CANARY\"}}", KI_ERR_INVALID,
         "must be given together"},
        {HEAD "{\"token\":\"t\",\"clientKeyData\":[\"CANARY\"]}}", KI_ERR_TYPE, "clientKeyData"},
        {HEAD "{\"token\":\"t\",\"expirationTimestamp\":\"CANARY\"}}", KI_ERR_INVALID,
         "is not a time"},
        {HEAD "{\"token\":\"t\",\"expirationTimestamp\":\"\"}}", KI_ERR_INVALID, "is not a time"},
        {HEAD "{\"token\":\"t\",\"expirationTimestamp\":1}}", KI_ERR_TYPE, "expirationTimestamp"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ki__exec_credential credential = {.expires_at = 7};
        ki__secrets secrets;
        ki_error error = KI_ERROR_INIT;
        int r =
            read_text(cases[i].text, strlen(cases[i].text), NULL, &credential, &secrets, &error);
        if (r != cases[i].code || error.code != r || strstr(error.message, cases[i].says) == NULL ||
            strstr(error.message, "CANARY") != NULL) {
            fail_msg("%s: %s %s", cases[i].text, ki_error_name(r), error.message);
        }
        assert_int_equal(credential.expires_at, 7);
        ki__secrets_done(&secrets);
    }
}

static void an_answer_cut_anywhere_is_refused(void **state)
{
    (void)state;
    static const char text[] = HEAD "{\"token\":\"CANARY\",\"clientCertificateData\":\"CANARY\","
                                    "\"clientKeyData\":\"CANARY\\n\\u0041\","
                                    "\"expirationTimestamp\":\"2026-01-01T00:00:00Z\"}}";
    for (size_t len = 0; len < strlen(text); len++) {
        ki__exec_credential credential;
        ki__secrets secrets;
        ki_error error = KI_ERROR_INIT;
        assert_true(read_text(text, len, NULL, &credential, &secrets, &error) < 0);
        assert_null(strstr(error.message, "CANARY"));
        ki__secrets_done(&secrets);
    }
}

static void deep_answers_are_refused(void **state)
{
    (void)state;
    ki__exec_credential credential;
    ki__secrets secrets;
    ki_buf text;
    ki_buf_init(&text, NULL, 4 << 20);
    test_add(&text, "[", 1000000);
    assert_int_equal(read_text(text.data, text.len, NULL, &credential, &secrets, NULL),
                     KI_ERR_DEPTH);
    ki__secrets_done(&secrets);
    ki_buf_done(&text);
}

static void a_chain_of_64_kib_is_read(void **state)
{
    (void)state;
    ki__exec_credential credential;
    ki__secrets secrets;
    ki_buf text;
    ki_buf_init(&text, NULL, 4 << 20);
    test_add(&text, HEAD "{\"clientKeyData\":\"K\",\"clientCertificateData\":\"", 1);
    test_add(&text, "0123456789abcde\\n", 65536 / 16);
    test_add(&text, "\"}}", 1);
    assert_int_equal(read_text(text.data, text.len, NULL, &credential, &secrets, NULL), 0);
    assert_int_equal(credential.certificate.len, 65536);
    ki__secrets_done(&secrets);
    ki_buf_done(&text);
}

/* ---- what plugins receive ---- */

static const char kubeconfig[] =
    "current-context: c\n"
    "contexts: [{name: c, context: {cluster: c, user: u}}]\n"
    "clusters: [{name: c, cluster: {server: 'https://h:1/p/q', tls-server-name: n,\n"
    "  proxy-url: 'http://me:pw@proxy', disable-compression: true,\n"
    "  extensions: [{name: client.authentication.k8s.io/exec,\n"
    "                extension: {audience: \"a\\\"b\", n: [1, null]}}]}}]\n"
    "users: [{name: u, user: {exec: {apiVersion: " V1 ", command: x,\n"
    "  interactiveMode: Never, provideClusterInfo: true}}}]\n";

static ki_config *load(const char *text, const ki_alloc *alloc)
{
    static const test_environment nothing;
    ki_config *config = NULL;
    ki_error error = KI_ERROR_INIT;
    ki_config_options options = KI_OPTIONS_INIT(ki_config_options);
    options.text = ki_str_from(text);
    options.environment = test_environment_of(&nothing);
    options.alloc = alloc;
    if (ki_config_load(&options, &config, &error) < 0) {
        fail_msg("%s", error.message);
    }
    return config;
}

static void a_plugin_receives_its_cluster(void **state)
{
    (void)state;
    ki_config *config = load(kubeconfig, NULL);
    ki__exec_info info = {.api_version = V1, .interactive = true};
    ki_buf out;
    ki_buf_init(&out, NULL, 1 << 20);
    assert_int_equal(ki__exec_info_write(&info, &out), 0);
    assert_str(ki_buf_str(&out), "{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1
                                 "\",\"spec\":{\"interactive\":true}}");
    ki_buf_clear(&out);
    info = (ki__exec_info){.api_version = BETA, .cluster = config, .ca = ki_str_from("PEM!")};
    assert_int_equal(ki__exec_info_write(&info, &out), 0);
    assert_str(ki_buf_str(&out),
               "{\"kind\":\"ExecCredential\",\"apiVersion\":\"" BETA
               "\",\"spec\":{\"cluster\":{\"server\":\"https://h:1/p/q\",\"tls-server-name\":\"n\","
               "\"certificate-authority-data\":\"UEVNIQ==\","
               "\"proxy-url\":\"http://me:pw@proxy\",\"disable-compression\":true,"
               "\"config\":{\"audience\":\"a\\\"b\",\"n\":[1,null]}},\"interactive\":false}}");
    ki_buf_done(&out);
    ki_config_unref(config);
}

static void the_limit_of_the_buffer_holds(void **state)
{
    (void)state;
    ki_config *config = load(kubeconfig, NULL);
    ki__exec_info info = {.api_version = V1, .cluster = config};
    ki_buf out;
    ki_buf_init(&out, NULL, 100);
    assert_int_equal(ki__exec_info_write(&info, &out), KI_ERR_LIMIT);
    ki_buf_done(&out);
    ki_config_unref(config);
}

static int sweep(const ki_alloc *alloc, void *user)
{
    static const char text[] = HEAD "{\"token\":\"t\",\"clientCertificateData\":\"c\","
                                    "\"clientKeyData\":\"k\","
                                    "\"expirationTimestamp\":\"2026-01-01T00:00:00Z\"}}";
    ki__exec_credential credential;
    ki__secrets secrets;
    ki_error error = KI_ERROR_INIT;
    int r = read_text(text, strlen(text), alloc, &credential, &secrets, &error);
    ki__secrets_done(&secrets);
    if (r == 0) {
        ki_buf out;
        ki_buf_init(&out, alloc, 1 << 20);
        ki__exec_info info = {.api_version = V1, .cluster = user, .ca = ki_str_from("PEM")};
        r = ki__exec_info_write(&info, &out);
        ki_buf_done(&out);
    }
    return r;
}

static void out_of_memory_is_reported(void **state)
{
    (void)state;
    ki_config *config = load(kubeconfig, NULL);
    test_alloc_sweep(sweep, config);
    ki_config_unref(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_answers_are_read),
        cmocka_unit_test(bad_answers_are_refused_without_a_word_of_them),
        cmocka_unit_test(an_answer_cut_anywhere_is_refused),
        cmocka_unit_test(deep_answers_are_refused),
        cmocka_unit_test(a_chain_of_64_kib_is_read),
        cmocka_unit_test(a_plugin_receives_its_cluster),
        cmocka_unit_test(the_limit_of_the_buffer_holds),
        cmocka_unit_test(out_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
