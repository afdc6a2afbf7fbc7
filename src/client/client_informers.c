/* SPDX-License-Identifier: Apache-2.0 */
/* The informers of a client: those of a factory created with the first one. The factory holds the
 * client through the transport, like any other user; it ends with the last reference of the
 * program, so there is no reference cycle. */
#include <unistd.h>

#include "base/error.h"
#include "client/client.h"

/* A reference to the factory, which is created if needed and `make` is set; otherwise NULL. */
static int take_factory(ki_client *client, bool make, ki_factory **ret_factory, ki_error *error)
{
    int r = 0;
    ki__mutex_lock(&client->lock);
    if (client->factory == NULL && make) {
        r = ki_client_factory(client, NULL, &client->factory, error);
    }
    *ret_factory = r < 0 ? NULL : ki_factory_ref(client->factory);
    ki__mutex_unlock(&client->lock);
    return r;
}

void ki__client_stop_informers(ki_client *client)
{
    if (client->pid != getpid()) {
        return; /* a child of fork(): the lock may be held, and the memory is leaked anyway */
    }
    ki__mutex_lock(&client->lock);
    ki_factory *factory = client->factory;
    client->factory = NULL;
    ki__mutex_unlock(&client->lock);
    ki_factory_stop(factory);
    (void)ki_factory_unref(factory);
}

int ki_client_informer(ki_client *client, const ki_resource *resource,
                       const ki_informer_options *options, ki_informer **ret_informer,
                       ki_error *error)
{
    KI__REQUIRE(client, error);
    KI__REQUIRE(resource, error);
    KI__REQUIRE(ret_informer, error);
    ki_factory *factory = NULL;
    ki_informer *informer = NULL;
    int r = take_factory(client, true, &factory, error);
    if (r == 0) {
        r = ki_factory_informer(factory, resource, options, &informer, error);
    }
    if (r == 0) {
        *ret_informer = ki_informer_ref(informer);
    }
    (void)ki_factory_unref(factory);
    return r;
}

int ki_client_start(ki_client *client, ki_error *error)
{
    KI__REQUIRE(client, error);
    ki_factory *factory = NULL;
    int r = take_factory(client, false, &factory, error);
    if (factory != NULL) {
        r = ki_factory_start(factory, error);
    }
    (void)ki_factory_unref(factory);
    return r;
}

int ki_client_wait_for_sync(ki_client *client, uint32_t timeout_ms, ki_error *error)
{
    KI__REQUIRE(client, error);
    ki_factory *factory = NULL;
    int r = take_factory(client, false, &factory, error);
    if (factory != NULL) {
        r = ki_factory_wait_for_sync(factory, timeout_ms, error);
    }
    (void)ki_factory_unref(factory);
    return r;
}
