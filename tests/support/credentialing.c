/* SPDX-License-Identifier: Apache-2.0 */
#include "support/credentialing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static uint64_t monotonic(void *user)
{
    const credentialing *c = user;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec + c->ahead_ns;
}

static int64_t realtime(void *user)
{
    const credentialing *c = user;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec + c->real_ahead_ns;
}

void credentialing_begin(credentialing *c)
{
    *c = (credentialing){0};
    c->clock = (ki_clock){0, monotonic, realtime, c};
    c->options.size = sizeof(c->options);
    test_folder_init(&c->folder);
    transporting_begin_at(&c->t, &c->clock);
}

void credentialing_end(credentialing *c)
{
    transporting_close(&c->t);
    ki__credentials_free(c->credentials);
    ki_config_unref(c->config);
    test_folder_done(&c->folder);
    transporting_end(&c->t);
}

/* Appends `text` with the folder in the place of DIR. */
static void add_filled(ki_buf *out, const char *text, const char *folder)
{
    const char *place;
    while ((place = strstr(text, "DIR")) != NULL) {
        assert_int_equal(ki_buf_add(out, text, (size_t)(place - text)), 0);
        test_add(out, folder, 1);
        text = place + 3;
    }
    test_add(out, text, 1);
}

void credentialing_load(credentialing *c, const char *server, const char *cluster, const char *user)
{
    static const test_environment nothing;
    ki_buf text;
    ki_buf_init(&text, NULL, 1 << 20);
    test_add(&text, "{current-context: c, contexts: [{name: c, context: {cluster: c, user: u}}],",
             1);
    test_add(&text, " clusters: [{name: c, cluster: {server: '", 1);
    test_add(&text, server, 1);
    test_add(&text, "', ", 1);
    add_filled(&text, cluster, c->folder.path);
    test_add(&text, "}}], users: [{name: u, user: {", 1);
    add_filled(&text, user, c->folder.path);
    test_add(&text, "}}]}", 1);
    ki_config_options options = KI_OPTIONS_INIT(ki_config_options);
    options.text = ki_buf_str(&text);
    options.environment = test_environment_of(&nothing);
    options.loopback_credentials = true;
    options.alloc = &c->t.alloc.table;
    ki_config *config = NULL;
    ki_error error = KI_ERROR_INIT;
    if (ki_config_load(&options, &config, &error) < 0) {
        fail_msg("%s", error.message);
    }
    ki_buf_done(&text);
    ki_config_unref(c->config);
    c->config = config;
}

int credentialing_new(credentialing *c, ki_error *error)
{
    return ki__credentials_new(c->t.loop, c->config, &c->options, &c->credentials, error);
}

void credentialing_open(credentialing *c)
{
    ki_error error = KI_ERROR_INIT;
    if (credentialing_new(c, &error) < 0) {
        fail_msg("%s: %s", ki_error_name(error.code), error.message);
    }
    ki_str proxy = ki_config_proxy_url(c->config);
    ki__curl_options options = {
        .url = ki_config_server(c->config),
        .tls = ki__credentials_tls(c->credentials),
        .auth = ki__credentials_auth(c->credentials),
        .proxy = proxy.len != 0 ? proxy.ptr : NULL,
    };
    transporting_open(&c->t, &options, "", 0);
    ki__credentials_attach(c->credentials, c->t.curl);
}

const char *credentialing_ask(credentialing *c, const char *path, const char *query, int *ret_code,
                              ki_error *ret_error)
{
    static char body[65536];
    exchange e;
    exchange_init(&e, &c->t, path, query);
    exchange_run(&e);
    if (ret_code != NULL) {
        *ret_code = e.complete ? e.status : e.error.code;
    } else {
        assert_int_equal(e.complete ? e.status : e.error.code, 200);
    }
    if (ret_error != NULL) {
        *ret_error = e.error;
    }
    snprintf(body, sizeof(body), "%s", e.complete ? ki_buf_text(&e.body) : "");
    exchange_done(&e);
    return body;
}

void credentialing_pass(credentialing *c, uint64_t seconds)
{
    c->ahead_ns += seconds * 1000000000;
    c->real_ahead_ns += (int64_t)seconds * 1000000000;
}

void credentialing_copy(credentialing *c, const test_server *server, const char *from,
                        const char *to)
{
    ki_buf content;
    test_server_file(server, from, &content);
    test_folder_write(&c->folder, to, ki_buf_text(&content));
    ki_buf_done(&content);
}

void credentialing_script(credentialing *c, const char *text)
{
    ki_buf filled;
    ki_buf_init(&filled, NULL, 1 << 20);
    add_filled(&filled, text, c->folder.path);
    test_folder_write(&c->folder, "plugin", ki_buf_text(&filled));
    ki_buf_done(&filled);
    assert_int_equal(chmod(test_folder_path(&c->folder, "plugin"), 0700), 0);
    c->options.exec_policy = KI_EXEC_ALLOW;
}

void credentialing_plugin(credentialing *c)
{
    credentialing_script(c, "#!/bin/sh\necho >> 'DIR/runs'\ncat 'DIR/answer'\n");
}

size_t credentialing_runs(const credentialing *c)
{
    struct stat info;
    return stat(test_folder_path(&c->folder, "runs"), &info) == 0 ? (size_t)info.st_size : 0;
}

void credentialing_answer(credentialing *c, const char *status)
{
    ki_buf text;
    ki_buf_init(&text, NULL, 1 << 20);
    test_add(&text,
             "{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1\","
             "\"status\":{",
             1);
    test_add(&text, status, 1);
    test_add(&text, "}}", 1);
    test_folder_write(&c->folder, "answer", ki_buf_text(&text));
    ki_buf_done(&text);
}
