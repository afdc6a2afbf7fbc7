/* SPDX-License-Identifier: Apache-2.0 */
#include <cjson/cJSON.h>

#include "peers.h"

static void *parse(const char *text, size_t len)
{
    return cJSON_ParseWithLength(text, len);
}

static void drop(void *tree)
{
    cJSON_Delete(tree);
}

const peer peer_cjson = {"cJSON", parse, drop, true, NULL};
