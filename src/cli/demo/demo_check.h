/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a cache equals what the server has. It reads the server by itself, and shares nothing
 * with informers but the reading of objects. */
#ifndef KI_CLI_DEMO_DEMO_CHECK_H
#define KI_CLI_DEMO_DEMO_CHECK_H

#include <kinformer/client.h>
#include <kinformer/request.h>
#include <kinformer/store.h>

/** What was found, over all calls with the same struct. */
typedef struct demo_check {
    size_t objects;   /* of the server */
    size_t missing;   /* that the cache has not */
    size_t extra;     /* that the server has not */
    size_t replaced;  /* of another uid */
    size_t stale;     /* of another resourceVersion */
    size_t different; /* all of that is equal, but the content is not */
    char first[256];  /* what is wrong with the first one; escaped */
} demo_check;

bool demo_check_is_equal(const demo_check *check);

/** Compares key, uid, resourceVersion and content of all objects, in both directions. What the
 *  server has may be in another encoding. Sorts the list. */
void demo_check_compare(const char *label, ki_list *server, const ki_snapshot *cache,
                        demo_check *check);

/** All objects of a resource, by one plain request for JSON: `list` of the answer.
 *  Owner: ki_response_done(), in any case.  Thread: not inside the loop.  Blocks: yes. */
KI_NODISCARD int demo_check_read(ki_client *client, const ki_resource *resource,
                                 ki_response *ret_answer, ki_error *error);

#endif
