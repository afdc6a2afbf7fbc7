/* SPDX-License-Identifier: Apache-2.0 */
/* Compares a cache with the server. It reads the server with its own requests, and shares only the
 * object decoder with informers. */
#ifndef KI_CLI_DEMO_DEMO_CHECK_H
#define KI_CLI_DEMO_DEMO_CHECK_H

#include <kinformer/client.h>
#include <kinformer/request.h>
#include <kinformer/store.h>

/** Result, accumulated over all calls with the same struct. */
typedef struct demo_check {
    size_t objects;   /* on the server */
    size_t missing;   /* not in the cache */
    size_t extra;     /* not on the server */
    size_t replaced;  /* different uid */
    size_t stale;     /* different resourceVersion */
    size_t different; /* all of that is equal, but not the content */
    char first[256];  /* description of the first difference; escaped */
} demo_check;

bool demo_check_is_equal(const demo_check *check);

/** Compares key, uid, resourceVersion and content of all objects, in both directions. The server's
 *  objects may be in another encoding. Sorts the list. */
void demo_check_compare(const char *label, ki_list *server, const ki_snapshot *cache,
                        demo_check *check);

/** Reads all objects of a resource with a single JSON request: `list` of the response.
 *  Owner: ki_response_done(), in any case.  Thread: not inside the loop.  Blocks: yes. */
KI_NODISCARD int demo_check_read(ki_client *client, const ki_resource *resource,
                                 ki_response *ret_response, ki_error *error);

#endif
