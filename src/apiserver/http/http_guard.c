/* SPDX-License-Identifier: Apache-2.0 */
/* Rejects requests of web pages: those that httpd/httpd_guard.c detects and, as old browsers send
 * neither Origin nor Sec-Fetch-Site, those with a body without Content-Type.
 *
 * None of this is checked if the server requires a token: pages do not have it, and browsers do not
 * add one on their own. */
#include "apiserver/http/http_server.h"
#include "apiserver/negotiate.h"

const char *const ki__http_own_names[] = {"localhost", "127.0.0.1", "::1", "kubernetes", NULL};

int ki__http_guard(const ki_apiserver *server, const ki__api_request *request,
                   ki__api_exchange **ret_exchange)
{
    if (server->token.len != 0) {
        return 0;
    }
    const ki__httpd_identity self = {&server->address, ki__http_own_names, &server->allowed_hosts};
    ki_str host = ki__api_request_header(request, "host");
    if (!ki__httpd_is_own_host(&self, host)) {
        return ki__api_exchange_failure(server->server, 403, KI_REASON_FORBIDDEN,
                                        "Host header does not name this server; add the name with "
                                        "allowed_hosts (--allow-host), or require a token",
                                        ret_exchange);
    }
    if (!ki__httpd_is_own_origin(&self, host, ki__api_request_header(request, "origin"),
                                 ki__api_request_header(request, "sec-fetch-site"))) {
        return ki__api_exchange_failure(server->server, 403, KI_REASON_FORBIDDEN,
                                        "cross-origin requests require a token", ret_exchange);
    }
    if (request->body.len != 0 && ki__api_request_header(request, "content-type").ptr == NULL) {
        return ki__api_exchange_failure(server->server, 415, KI_REASON_UNSUPPORTED_MEDIA_TYPE,
                                        "request body without Content-Type", ret_exchange);
    }
    return 0;
}
