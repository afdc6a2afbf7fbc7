/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens in files. Invariant: the value is empty or a valid header value, and data read from the
 * file is wiped, valid or not. */
#include "client/auth/token_file.h"

#include <errno.h>

#include "base/ascii.h"
#include "base/engine.h"
#include "base/error.h"
#include "base/time_units.h"
#include "client/auth/auth_headers.h"
#include "client/config/file.h"

enum { TOKEN_MAX = 64 << 10 };
#define MAX_AGE_NS (50 * KI__SECOND_NS)
#define MIN_AGE_NS (5 * KI__SECOND_NS) /* minimum interval, for servers that reject everything */

static int fail(const ki__token_file *file, int code, const char *text, ki_error *error)
{
    (void)ki__error_set(error, code, "token file: %s: ", text);
    ki__error_add(error, ki_str_from(file->path));
    return code;
}

/* Reads the file into both buffers; the caller wipes them. */
static int load(const ki__token_file *file, ki__secrets *secrets, ki_str *ret_value,
                ki_error *error)
{
    ki__file_info info;
    ki_str text;
    int r = ki__file_read(file->path, TOKEN_MAX, secrets, &text, &info);
    if (r < 0) {
        return fail(file, r, ki__file_error_text(r), error);
    }
    text = ki__trim(text, " \t\r\n\v\f");
    if (text.len == 0) {
        return fail(file, KI_ERR_INVALID, "empty", error);
    }
    r = ki__auth_bearer(secrets, text, ret_value);
    return r == KI_ERR_INVALID
               ? fail(file, r, "characters that are not allowed in an HTTP header", error)
           : r < 0 ? ki__error_code(error, r)
                   : 0;
}

/* 1 if the value has changed. */
static int renew(ki__token_file *file, ki_error *error)
{
    ki__secrets secrets;
    ki_str value;
    ki__secrets_init(&secrets, ki__engine_alloc(file->engine));
    int r = load(file, &secrets, &value, error);
    file->read_at = ki__engine_now(file->engine);
    file->failed = r < 0;
    file->refused = false;
    if (r < 0 || ki_str_eq(value, file->authorization)) {
        ki__secrets_done(&secrets);
        return r;
    }
    ki__secrets_done(&file->secrets);
    file->secrets = secrets;
    file->authorization = value;
    return 1;
}

int ki__token_file_init(ki__token_file *file, ki_engine *engine, const char *path, ki_error *error)
{
    *file = (ki__token_file){.engine = engine, .path = path};
    ki__secrets_init(&file->secrets, ki__engine_alloc(engine));
    int r = renew(file, error);
    return r < 0 ? r : 0;
}

void ki__token_file_done(ki__token_file *file)
{
    ki__secrets_done(&file->secrets);
    *file = (ki__token_file){0};
}

bool ki__token_file_look(ki__token_file *file)
{
    ki_error error = KI_ERROR_INIT;
    uint64_t age = ki__engine_now(file->engine) - file->read_at;
    if (age < (file->failed || file->refused ? MIN_AGE_NS : MAX_AGE_NS)) {
        return false;
    }
    int r = renew(file, &error);
    if (r < 0) {
        ki__engine_report(file->engine, "credentials", NULL, ki_str_make(NULL, 0), &error);
    }
    return r == 1;
}

void ki__token_file_refused(ki__token_file *file)
{
    file->refused = true;
}
