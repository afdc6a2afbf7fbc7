/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/server.h"

#include <errno.h>

#include "apiserver/exchange.h"
#include "apiserver/verbs/namespaces.h"
#include "base/alloc.h"
#include "base/assert.h"

static void set_default(int64_t *option, int64_t value)
{
    *option = *option == 0 ? value : *option;
}

int ki__api_server_new(ki__api_model *model, const ki__api_server_options *options,
                       ki__api_server **ret_server)
{
    int r = ki__api_namespaces_create(model);
    ki__api_server *server = r == 0 ? ki__alloc_zero(model->alloc, sizeof(*server)) : NULL;
    if (server == NULL) {
        return -ENOMEM;
    }
    server->model = model;
    if (options != NULL) {
        server->options = *options;
    }
    set_default(&server->options.bookmark_ms, 60000);
    set_default(&server->options.last_bookmark_ms, 2000);
    set_default(&server->options.fresh_wait_ms, 3000);
    set_default(&server->options.watch_timeout_s, 1800);
    if (server->options.watches_max == 0) {
        server->options.watches_max = 4096;
    }
    server->reader.applied = model->head;
    server->reader.follows = !server->options.lags;
    ki__list_init(&server->watches);
    ki__list_push_back(&model->readers, &server->reader.link);
    *ret_server = server;
    return 0;
}

ki__api_server *ki__api_server_free(ki__api_server *server)
{
    if (server != NULL) {
        ki_assert(ki__list_is_empty(&server->watches));
        ki__list_remove(&server->reader.link);
        ki__free(server->model->alloc, server);
    }
    return NULL;
}

uint64_t ki__api_server_version(const ki__api_server *server)
{
    return server->reader.applied;
}

void ki__api_server_advance(ki__api_server *server, uint64_t rv)
{
    ki__api_model_advance(server->model, &server->reader, rv);
}

/* The version before the last `window` changes that the server has applied. */
static uint64_t window_start(const ki__api_server *server)
{
    const ki__api_model *model = server->model;
    uint64_t end = ki__api_model_after(model, server->reader.applied);
    if (end - model->sequence <= server->options.window) {
        return model->floor;
    }
    uint64_t last_gone = end - server->options.window - 1;
    return ki__api_model_entry(model, last_gone)->rv;
}

uint64_t ki__api_server_oldest(const ki__api_server *server)
{
    const ki__api_model *model = server->model;
    uint64_t oldest = server->options.window != 0 ? window_start(server) : model->compacted;
    oldest = oldest < model->floor ? model->floor : oldest;
    /* A restored model may be behind the server's position. */
    uint64_t expired =
        server->expired < server->reader.applied ? server->expired : server->reader.applied;
    return oldest < expired ? expired : oldest;
}

void ki__api_server_expire(ki__api_server *server)
{
    server->expired = server->reader.applied;
}

void ki__api_server_drop_watches(ki__api_server *server, bool cut)
{
    KI__LIST_FOR_EACH (link, &server->watches) {
        ki__api_exchange *x = KI__CONTAINER_OF(link, ki__api_exchange, watch.link);
        x->watch.dropped = true;
        x->broken = x->broken || cut;
    }
    if (server->model->on_change != NULL) {
        server->model->on_change(server->model->on_change_user);
    }
}
