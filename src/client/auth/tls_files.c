/* SPDX-License-Identifier: Apache-2.0 */
/* Certificate files. Two files cannot be read atomically, so they are read until neither changed
 * meanwhile, and then checked. Invariant: `set` is always complete and was valid. */
#include "client/auth/tls_files.h"

#include <errno.h>

#include "base/engine.h"
#include "base/error.h"
#include "client/auth/pem.h"
#include "client/config/file.h"

enum { FILE_MAX = 1 << 20, TRIES = 3 };
#define RETRY_NS UINT64_C(5000000000) /* retry after a failure: the files may be incomplete */

static const char *const names[KI__TLS_PARTS] = {"CA file", "client certificate file",
                                                 "client key file"};

static bool is_file(const ki__tls_files *files, size_t part)
{
    return files->paths[part][0] != '\0';
}

bool ki__tls_files_has_any(const ki__tls_files *files)
{
    return is_file(files, KI__TLS_CA) || is_file(files, KI__TLS_CERTIFICATE) ||
           is_file(files, KI__TLS_KEY);
}

void ki__tls_set_done(ki__tls_set *set)
{
    ki__secrets_done(&set->secrets);
    *set = (ki__tls_set){0};
}

static int fail(const ki__tls_files *files, size_t part, int code, const char *text,
                ki_error *error)
{
    (void)ki__error_set(error, code, "%s: %s: ", names[part], text);
    ki__error_add(error, ki_str_from(is_file(files, part) ? files->paths[part] : "(data)"));
    return code;
}

/* ---- reading ---- */

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
           a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* A file whose stat() fails is all zeros: the error is reported when it is read. */
static void look_at_all(const ki__tls_files *files, struct stat stats[KI__TLS_PARTS])
{
    for (size_t i = 0; i < KI__TLS_PARTS; i++) {
        stats[i] = (struct stat){0};
        if (is_file(files, i)) {
            (void)stat(files->paths[i], &stats[i]);
        }
    }
}

static bool are_same(const struct stat a[KI__TLS_PARTS], const struct stat b[KI__TLS_PARTS])
{
    return is_same(&a[KI__TLS_CA], &b[KI__TLS_CA]) &&
           is_same(&a[KI__TLS_CERTIFICATE], &b[KI__TLS_CERTIFICATE]) &&
           is_same(&a[KI__TLS_KEY], &b[KI__TLS_KEY]);
}

static int read_all(const ki__tls_files *files, ki__tls_set *set, ki_error *error)
{
    for (size_t i = 0; i < KI__TLS_PARTS; i++) {
        ki__file_info info;
        set->parts[i] = files->data[i];
        if (!is_file(files, i)) {
            continue;
        }
        int r = ki__file_read(files->paths[i], FILE_MAX, &set->secrets, &set->parts[i], &info);
        if (r < 0) {
            return fail(files, i, r, ki__file_error_text(r), error);
        }
    }
    return 0;
}

/* Reads a consistent set, as far as that can be verified. */
static int read_stable(const ki__tls_files *files, ki__tls_set *set, ki_error *error)
{
    struct stat after[KI__TLS_PARTS];
    for (size_t i = 0; i < TRIES; i++) {
        ki__secrets_done(&set->secrets);
        look_at_all(files, set->stats);
        int r = read_all(files, set, error);
        if (r < 0) {
            return r;
        }
        look_at_all(files, after);
        if (are_same(set->stats, after)) {
            return 0;
        }
    }
    return ki__error_set(error, KI_ERR_BUSY, "certificate files are changing while being read");
}

static int check(const ki__tls_files *files, const ki__tls_set *set, ki_error *error)
{
    const ki_alloc *alloc = ki__engine_alloc(files->engine);
    const char *problem;
    int r = 0;
    if (set->parts[KI__TLS_CA].len != 0 || is_file(files, KI__TLS_CA)) {
        r = ki__pem_check_ca(set->parts[KI__TLS_CA], alloc, &problem);
        if (r < 0) {
            return fail(files, KI__TLS_CA, r, problem, error);
        }
    }
    if (set->parts[KI__TLS_CERTIFICATE].len != 0 || is_file(files, KI__TLS_CERTIFICATE)) {
        r = ki__pem_check_pair(set->parts[KI__TLS_CERTIFICATE], set->parts[KI__TLS_KEY], alloc,
                               &problem);
        if (r < 0) {
            return fail(files, KI__TLS_CERTIFICATE, r, problem, error);
        }
    }
    return r;
}

static int load(const ki__tls_files *files, ki__tls_set *set, ki_error *error)
{
    *set = (ki__tls_set){0};
    ki__secrets_init(&set->secrets, ki__engine_alloc(files->engine));
    int r = read_stable(files, set, error);
    if (r == 0) {
        r = check(files, set, error);
    }
    if (r < 0) {
        ki__tls_set_done(set);
    }
    return r;
}

/* ---- creation and checks ---- */

int ki__tls_files_init(ki__tls_files *files, ki_engine *engine, const ki_config *config,
                       ki_error *error)
{
    const ki_config_tls *tls = ki_config_get_tls(config);
    *files = (ki__tls_files){
        .engine = engine,
        .paths = {tls->ca_file, tls->cert_file, tls->key_file},
        .data = {tls->ca_data, tls->cert_data, tls->key_data},
        .looked_at = ki__engine_now(engine),
    };
    if (tls->cert_file[0] == '\0' && tls->cert_data.len == 0) {
        files->paths[KI__TLS_KEY] = ""; /* a key without a certificate is ignored */
        files->data[KI__TLS_KEY] = ki_str_make(NULL, 0);
    }
    return load(files, &files->set, error);
}

void ki__tls_files_done(ki__tls_files *files)
{
    ki__tls_set_done(&files->set);
    *files = (ki__tls_files){0};
}

void ki__tls_files_failed(ki__tls_files *files, const ki_error *error)
{
    files->failed = true;
    ki__engine_report(files->engine, "credentials", NULL, ki_str_make(NULL, 0), error);
}

void ki__tls_files_take(ki__tls_files *files, ki__tls_set *set)
{
    ki__tls_set_done(&files->set);
    files->set = *set;
}

static bool has_same_content(const ki__tls_set *a, const ki__tls_set *b)
{
    return ki_str_eq(a->parts[KI__TLS_CA], b->parts[KI__TLS_CA]) &&
           ki_str_eq(a->parts[KI__TLS_CERTIFICATE], b->parts[KI__TLS_CERTIFICATE]) &&
           ki_str_eq(a->parts[KI__TLS_KEY], b->parts[KI__TLS_KEY]);
}

int ki__tls_files_look(ki__tls_files *files, ki__tls_set *ret_set)
{
    struct stat stats[KI__TLS_PARTS];
    ki_error error = KI_ERROR_INIT;
    uint64_t now = ki__engine_now(files->engine);
    if (!ki__tls_files_has_any(files) ||
        now - files->looked_at < (files->failed ? RETRY_NS : KI__TLS_LOOK_NS)) {
        return 0;
    }
    files->looked_at = now;
    files->failed = false;
    look_at_all(files, stats);
    if (are_same(stats, files->set.stats)) {
        return 0;
    }
    if (load(files, ret_set, &error) < 0) {
        ki__tls_files_failed(files, &error);
        return 0;
    }
    if (has_same_content(ret_set, &files->set)) {
        ki__tls_files_take(files, ret_set);
        return 0;
    }
    return 1;
}
