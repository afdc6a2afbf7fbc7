/* SPDX-License-Identifier: Apache-2.0 */
/* Logs Warning headers of the server: those of code 299, each once, at a limited rate. Logged
 * warnings are remembered by their hash; the oldest is dropped first. */
#include <string.h>

#include "base/log.h"
#include "base/time_units.h"
#include "client/curl/curl_state.h"
#include "wire/warning_header.h"

#define WINDOW_NS (60 * KI__SECOND_NS)

static bool was_logged(ki__curl_warnings *seen, uint64_t hash)
{
    for (size_t i = 0; i < KI__CURL_WARNINGS; i++) {
        if (seen->hashes[i] == hash) {
            return true;
        }
    }
    return false;
}

/* Whether another one may be logged in this minute. */
static bool is_in_rate(ki__curl *curl)
{
    ki__curl_warnings *seen = &curl->warnings;
    uint64_t now = ki__engine_now(curl->engine);
    if (seen->count == 0 || now - seen->since >= WINDOW_NS) {
        seen->since = now;
        seen->count = 0;
    }
    if (++seen->count == KI__CURL_WARNINGS + 1) {
        KI__LOG(curl->log, KI_LOG_WARNING, "client",
                "too many API server warnings; some are suppressed");
    }
    if (seen->count > KI__CURL_WARNINGS) {
        seen->count = KI__CURL_WARNINGS + 1;
        return false;
    }
    return true;
}

static void log_warning(ki__curl *curl, const ki__warning *warning)
{
    ki__curl_warnings *seen = &curl->warnings;
    uint64_t hash = ki__hash(seen->key, warning->text, warning->len);
    if (warning->len == 0 || was_logged(seen, hash) || !is_in_rate(curl)) {
        return;
    }
    seen->hashes[seen->next] = hash;
    seen->next = (seen->next + 1) % KI__CURL_WARNINGS;
    KI__LOG(curl->log, KI_LOG_WARNING, "client", "API server warning",
            {"warning", ki_str_make(warning->text, warning->len)});
}

void ki__curl_warn(const ki__curl_call *call)
{
    ki__curl *curl = call->curl;
    if (call->kind == KI__CURL_PROBE || !ki__log_accepts(curl->log, KI_LOG_WARNING)) {
        return;
    }
    for (size_t i = 0; i < call->field_count; i++) {
        ki_str value = ki_http_header_find(&call->fields[i], 1, "warning");
        ki__warning warning;
        while (ki__warning_next(&value, &warning) > 0) {
            if (warning.code == KI__WARNING_PERSISTENT) {
                log_warning(curl, &warning);
            }
        }
    }
}
