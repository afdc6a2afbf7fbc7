/* SPDX-License-Identifier: Apache-2.0 */
/* Scheduling of plugin runs. Invariant: there is always a pause between two runs, regardless of the
 * clock, the server and the plugin. */
#include "client/auth/exec_auth.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/time_units.h"
#include "client/auth/auth_headers.h"
#include "client/auth/pem.h"

enum { INFO_MAX = 8 << 20 };
#define TIMEOUT_NS (60 * KI__SECOND_NS)
#define FAILED_NS KI__SECOND_NS      /* initial backoff after a failure */
#define GOOD_NS (5 * KI__SECOND_NS)  /* the pause after a success */
#define LONG_NS (60 * KI__SECOND_NS) /* the maximum of both */
#define CALM_NS (180 * KI__SECOND_NS)

bool ki__exec_auth_is_configured(const ki_config *config)
{
    const ki_config_credentials *credentials = ki_config_get_credentials(config);
    const ki_config_tls *tls = ki_config_get_tls(config);
    return ki_config_get_exec(config) != NULL && credentials->token.len == 0 &&
           credentials->token_file[0] == '\0' && credentials->username[0] == '\0' &&
           tls->cert_data.len == 0 && tls->cert_file[0] == '\0';
}

static const ki_config_exec *exec_of(const ki__exec_auth *auth)
{
    return ki_config_get_exec(auth->config);
}

static void secret_done(ki__exec_secret *secret)
{
    ki__secrets_done(&secret->secrets);
    *secret = (ki__exec_secret){0};
}

/* ---- results ---- */

static bool is_expired(const ki__exec_auth *auth, const ki__exec_secret *secret)
{
    const ki_clock *clock = ki__engine_clock(auth->engine);
    int64_t now = clock->realtime_ns(clock->user) / (int64_t)KI__SECOND_NS;
    return secret->expires && now > secret->expires_at;
}

static uint64_t doubled(uint64_t pause_ns)
{
    return pause_ns < LONG_NS / 2 ? pause_ns * 2 : LONG_NS;
}

/* Repeated runs are scheduled less and less often. */
static void set_pause(ki__exec_auth *auth, bool good)
{
    uint64_t now = ki__engine_now(auth->engine);
    bool calm = auth->ended_at == 0 || now - auth->ended_at > CALM_NS;
    if (good) {
        bool again = (auth->for_refused || is_expired(auth, &auth->secret)) && !calm;
        auth->pause_ns = again && auth->pause_ns >= GOOD_NS ? doubled(auth->pause_ns) : GOOD_NS;
    } else {
        auth->pause_ns = auth->failed ? doubled(auth->pause_ns) : FAILED_NS;
    }
    auth->ended_at = now;
    auth->next = now + auth->pause_ns;
}

/* Adds the plugin's name; `text` is the reason. */
static void set_failure(ki__exec_auth *auth, int code, const char *text)
{
    bool named = strstr(text, auth->command.path) != NULL;
    (void)ki__error_set(&auth->failure, code, "exec plugin failed: %s%s", text, named ? "" : ": ");
    if (!named) {
        ki__error_add(&auth->failure, ki_str_from(auth->command.path));
    }
}

static int check_certificate(ki__exec_auth *auth, const ki__exec_credential *credential,
                             ki_error *error)
{
    const char *problem;
    bool same = ki_str_eq(credential->certificate, auth->secret.certificate) &&
                ki_str_eq(credential->key, auth->secret.key);
    if (same) {
        return 0;
    }
    if (credential->certificate.len != 0) {
        int r = ki__pem_check_pair(credential->certificate, credential->key,
                                   ki__engine_alloc(auth->engine), &problem);
        if (r < 0) {
            return ki__error_set(error, r, "%s", problem);
        }
    }
    return auth->listener.certificate(credential->certificate, credential->key, auth->listener.user,
                                      error);
}

/* Replaces the current credential if the output is valid. */
static int take_output(ki__exec_auth *auth, ki_str output, ki_error *error)
{
    ki__exec_credential credential;
    ki__exec_secret secret = {0};
    ki__secrets_init(&secret.secrets, ki__engine_alloc(auth->engine));
    int r = ki__exec_credential_read(output, exec_of(auth)->api_version, &secret.secrets,
                                     &credential, error);
    if (r == 0 && credential.token.len != 0) {
        r = ki__auth_bearer(&secret.secrets, credential.token, &secret.authorization);
        r = r < 0 ? ki__error_code(error, r) : 0;
    }
    if (r == 0) {
        r = check_certificate(auth, &credential, error);
    }
    if (r < 0) {
        secret_done(&secret);
        return r;
    }
    secret.certificate = credential.certificate;
    secret.key = credential.key;
    secret.expires = credential.expires;
    secret.expires_at = credential.expires_at;
    secret_done(&auth->secret);
    auth->secret = secret;
    auth->has = true;
    return 0;
}

static void on_end(ki__exec_plugin *plugin, const ki_error *error, ki_str output)
{
    ki__exec_auth *auth = KI__CONTAINER_OF(plugin, ki__exec_auth, plugin);
    ki_error failure = KI_ERROR_INIT;
    if (error != NULL) {
        ki__error_copy(&failure, error);
    }
    int r = failure.code;
    if (r == 0) {
        r = take_output(auth, output, &failure);
    }
    set_pause(auth, r == 0);
    auth->failed = r < 0;
    auth->refused = false;
    if (r < 0) {
        set_failure(auth, r, failure.message);
    }
    auth->listener.ended(r == 0, r < 0 ? &auth->failure : NULL, auth->listener.user);
}

/* ---- running ---- */

static int find_terminal(const ki__exec_auth *auth, bool *ret_terminal, ki_error *error)
{
    ki_config_interactive mode = exec_of(auth)->interactive;
    bool terminal = auth->interactive && isatty(0) == 1;
    if (mode == KI_CONFIG_INTERACTIVE_ALWAYS && !terminal) {
        return ki__error_set(error, -ENOTTY,
                             "interactiveMode is Always, but standard input is not a terminal");
    }
    *ret_terminal = terminal && mode != KI_CONFIG_INTERACTIVE_NEVER;
    return 0;
}

/* The environment variable for the plugin, as NAME=value. */
static int write_info(const ki__exec_auth *auth, bool terminal, ki_buf *out)
{
    static const char name[] = "KUBERNETES_EXEC_INFO=";
    const ki__exec_info info = {
        .api_version = exec_of(auth)->api_version,
        .interactive = terminal,
        .cluster = exec_of(auth)->provide_cluster_info ? auth->config : NULL,
        .ca = auth->listener.ca(auth->listener.user),
    };
    int r = ki__exec_info_reserve(&info, sizeof(name), out);
    r = r < 0 ? r : ki_buf_add_text(out, name);
    return r < 0 ? r : ki__exec_info_write(&info, out);
}

static int start(ki__exec_auth *auth, ki_error *error)
{
    bool terminal = false;
    ki_buf info;
    int r = ki__exec_command_check(&auth->command, error);
    if (r == 0) {
        r = find_terminal(auth, &terminal, error);
    }
    if (r < 0) {
        return r;
    }
    ki_buf_init(&info, ki__engine_alloc(auth->engine), INFO_MAX);
    r = write_info(auth, terminal, &info);
    if (r == 0) {
        auth->command.environment[auth->command.info] = info.data;
        const ki__exec_run run = {
            .path = auth->command.path,
            .argv = auth->command.argv,
            .environment = auth->command.environment,
            .timeout_ns = auth->timeout_ns,
            .terminal = terminal,
            .shows_errors = auth->interactive,
        };
        r = ki__exec_plugin_start(&auth->plugin, &run, error);
        auth->command.environment[auth->command.info] = NULL;
    } else {
        r = ki__error_code(error, r);
    }
    ki__wipe(info.data, info.data != NULL ? info.cap : 0);
    ki_buf_done(&info);
    return r;
}

int ki__exec_auth_get(ki__exec_auth *auth, ki_error *error)
{
    ki_error failure = KI_ERROR_INIT;
    if (ki__exec_plugin_is_running(&auth->plugin)) {
        return -EAGAIN;
    }
    bool usable = auth->has && !is_expired(auth, &auth->secret);
    if (usable && !auth->refused) {
        return 0;
    }
    if (ki__engine_now(auth->engine) < auth->next) {
        if (auth->has && (usable || !auth->failed)) {
            return 0;
        }
        if (error != NULL) {
            ki__error_copy(error, &auth->failure);
        }
        return auth->failure.code;
    }
    auth->for_refused = auth->refused;
    int r = start(auth, &failure);
    if (r == 0) {
        return -EAGAIN;
    }
    set_pause(auth, false);
    set_failure(auth, r, failure.message);
    auth->failed = true;
    auth->refused = false;
    if (usable) { /* otherwise the request gets the error */
        ki__engine_report(auth->engine, "credentials", NULL, ki_str_make(NULL, 0), &auth->failure);
        return 0;
    }
    if (error != NULL) {
        ki__error_copy(error, &auth->failure);
    }
    return r;
}

void ki__exec_auth_refused(ki__exec_auth *auth)
{
    auth->refused = auth->has;
}

/* ---- creation ---- */

int ki__exec_auth_init(ki__exec_auth *auth, ki_loop *loop, const ki_config *config,
                       const ki_client_options *options, const ki__exec_listener *listener,
                       ki_error *error)
{
    ki_engine *engine = ki_loop_engine(loop);
    *auth = (ki__exec_auth){
        .loop = loop,
        .engine = engine,
        .config = config,
        .listener = *listener,
        .interactive = options->exec_interactive,
        .timeout_ns = options->exec_timeout_ms != 0
                          ? (uint64_t)options->exec_timeout_ms * (KI__SECOND_NS / 1000)
                          : TIMEOUT_NS,
    };
    int r = ki__exec_command_init(&auth->command, ki__engine_alloc(engine), exec_of(auth), options,
                                  error);
    if (r < 0) {
        return r;
    }
    if (exec_of(auth)->interactive == KI_CONFIG_INTERACTIVE_ALWAYS && !auth->interactive) {
        (void)ki__error_set(
            error, KI_ERR_DENIED,
            "exec plugin: interactiveMode is Always, but exec_interactive is not set: ");
        ki__error_add(error, ki_str_from(auth->command.path));
        return KI_ERR_DENIED;
    }
    r = ki__exec_plugin_init(&auth->plugin, loop, on_end);
    return r < 0 ? ki__error_code(error, r) : 0;
}

void ki__exec_auth_done(ki__exec_auth *auth)
{
    ki__exec_plugin_done(&auth->plugin);
    ki__exec_command_done(&auth->command);
    secret_done(&auth->secret);
}
