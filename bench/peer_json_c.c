/* SPDX-License-Identifier: Apache-2.0 */
#include <json-c/json_object.h>
#include <json-c/json_tokener.h>

#include "peers.h"

static void *parse(const char *text, size_t len)
{
    json_tokener *tokener = json_tokener_new();
    if (tokener == NULL) {
        return NULL;
    }
    json_object *tree = json_tokener_parse_ex(tokener, text, (int)len);
    json_tokener_free(tokener);
    return tree;
}

static void drop(void *tree)
{
    (void)json_object_put(tree);
}

const peer peer_json_c = {"json-c", parse, drop, true, NULL};
