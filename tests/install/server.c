/* SPDX-License-Identifier: Apache-2.0 */
/* A C11 program against the installed embedded API server: starts one, and prints the version of
 * the library. */
#include <stdio.h>
#include <string.h>

#include <kinformer/apiserver.h>
#include <kinformer/kinformer.h>

int main(void)
{
    ki_apiserver *server = NULL;
    ki_error error = KI_ERROR_INIT;
    if (ki_apiserver_new(NULL, &server, &error) < 0) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    int ok = strncmp(ki_apiserver_url(server), "http://127.0.0.1:", 17) == 0;
    ki_apiserver_unref(server);
    puts(ki_version());
    return ok ? 0 : 1;
}
