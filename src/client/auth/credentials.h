/* SPDX-License-Identifier: Apache-2.0 */
/* Credentials of a configuration (authentication and trusted CAs), kept current. They provide the
 * headers of requests to the transport, and new certificates when files change or plugins return
 * some.
 *
 * Files are read on the loop: they are small, and regular files only. Plugins are processes whose
 * pipes the loop polls: only requests that need them wait for them.
 *
 * All functions are for the thread that runs the loop, or while none does. */
#ifndef KI_CLIENT_AUTH_CREDENTIALS_H
#define KI_CLIENT_AUTH_CREDENTIALS_H

#include <kinformer/client.h>

#include "client/curl/curl_transport.h"

typedef struct ki__credentials ki__credentials;

/** Only the exec group of the options is used. Files are read immediately, so that permanent errors
 *  are reported early. Takes a reference to the configuration; borrows the loop. */
int ki__credentials_new(ki_loop *loop, const ki_config *config, const ki_client_options *options,
                        ki__credentials **ret_credentials, ki_error *error);

/** Kills running plugins. NULL is allowed. In a child of fork() it releases nothing. */
void ki__credentials_free(ki__credentials *credentials);

/** For ki__curl_options: the current settings, borrowed until the next change, and the hook. */
ki__curl_tls ki__credentials_tls(const ki__credentials *credentials);
ki__curl_auth ki__credentials_auth(ki__credentials *credentials);

/** Notifies the transport of changes from now on; NULL: no longer. */
void ki__credentials_attach(ki__credentials *credentials, ki__curl *curl);

#endif
