/* SPDX-License-Identifier: Apache-2.0 */
#include <jansson.h>

#include "peers.h"

static void *parse(const char *text, size_t len)
{
    return json_loadb(text, len, 0, NULL);
}

static void drop(void *tree)
{
    json_decref(tree);
}

const peer peer_jansson = {"jansson", parse, drop, true, NULL};
