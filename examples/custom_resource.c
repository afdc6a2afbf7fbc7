/* SPDX-License-Identifier: Apache-2.0 */
/* An informer of a custom resource, widgets.example.com, which is not built into the library. Its
 * definition may be created long after the program was started: the informer retries until the
 * resource is served. Prints each widget, with fields that are read by paths, until Enter is
 * pressed, and then the number of widgets per owner. */
#include <stdio.h>

#include <kinformer/health.h>
#include <kinformer/index.h>
#include <kinformer/kinformer.h>
#include <kinformer/path.h>

#define INDEX_OWNER "owner"

/* ---- reading ---- */

/* Custom resources may contain anything: any field may be missing or have an unexpected type. */
static void print_widget(const char *sign, const ki_object *widget)
{
    int64_t size = ki_object_int64_or(widget, "spec.size", -1);
    ki_value colours = ki_object_at(widget, "spec.colours");
    char ready[16];
    if (size < 0) {
        printf("%s %s has no size\n", sign, ki_object_key(widget));
        return;
    }
    printf("%s %s size %lld, colours %zu, ready %s\n", sign, ki_object_key(widget), (long long)size,
           ki_value_count(&colours),
           ki_object_string_or(widget, "status.conditions[type=Ready].status", "Unknown", ready,
                               sizeof(ready)));
}

static void on_add(const ki_object *widget, bool is_initial, void *user)
{
    (void)is_initial;
    (void)user;
    print_widget("+", widget);
}

static void on_update(const ki_object *old, const ki_object *widget, void *user)
{
    (void)old;
    (void)user;
    print_widget("~", widget);
}

static void on_delete(const ki_object *widget, bool final_state_unknown, void *user)
{
    (void)final_state_unknown;
    (void)user;
    print_widget("-", widget);
}

/* Called for each failed list and watch. The informer retries automatically, with delays of up to a
 * minute; printing the first is enough. */
static void on_watch_error(ki_informer *informer, const ki_watch_failure *failure, void *user)
{
    bool *reported = user;
    const ki_error *error = failure->error;
    if (!*reported) {
        *reported = true;
        printf("%s: %s\n", ki_informer_name(informer),
               ki_error_is_not_found(error) ? "not served yet" : error->message);
    }
}

static void print_owners(ki_informer *widgets)
{
    ki_snapshot *snapshot = ki_store_snapshot(ki_informer_store(widgets));
    ki_index_iter owners;
    ki_str owner;
    size_t count;
    int r = ki_index_iter_begin(snapshot, INDEX_OWNER, &owners);
    while (r == 0 && ki_index_iter_next(&owners, &owner, &count) > 0) {
        printf("%.*s owns %zu\n", KI_STR_ARG(owner), count);
    }
    ki_snapshot_unref(snapshot);
}

/* ---- starting ---- */

static int make_resource(ki_resource **ret_resource, ki_error *error)
{
    ki_resource_options options = KI_OPTIONS_INIT(ki_resource_options);
    options.group = "example.com";
    options.version = "v1";
    options.resource = "widgets";
    options.kind = "Widget";
    return ki_resource_new(&options, ret_resource, error);
}

/* A path that is read from every object is compiled once; the index keeps it. */
static int make_index(ki_index *ret_index, ki_error *error)
{
    ki_path *owner = NULL;
    int r = ki_path_compile("spec.owner", NULL, &owner, error);
    r = r < 0 ? r : ki_index_by_path(INDEX_OWNER, owner, NULL, ret_index);
    ki_path_unref(owner);
    return r;
}

static int prepare(ki_informer *widgets, ki_error *error)
{
    ki_handler handler = {.on_add = on_add, .on_update = on_update, .on_delete = on_delete};
    ki_index index = KI_OPTIONS_INIT(ki_index);
    int r = make_index(&index, error);
    r = r < 0 ? r : ki_informer_add_indexes(widgets, (const ki_index *[]){&index}, 1, error);
    return r < 0 ? r : ki_informer_add_handler(widgets, &handler, NULL, NULL, error);
}

int main(void)
{
    ki_error error = KI_ERROR_INIT;
    ki_resource *resource = NULL;
    ki_client *client = NULL;
    ki_factory *factory = NULL;
    ki_informer *widgets = NULL;
    bool reported = false;
    const ki_informer_options *options = KI_OPTIONS(
        ki_informer_options, .on_watch_error = on_watch_error, .watch_error_user = &reported);
    setvbuf(stdout, NULL, _IOLBF, 0);
    int r = make_resource(&resource, &error);
    r = r < 0 ? r : ki_client_new(NULL, &client, &error);
    r = r < 0 ? r : ki_client_factory(client, NULL, &factory, &error);
    r = r < 0 ? r : ki_factory_informer(factory, resource, options, &widgets, &error);
    r = r < 0 ? r : prepare(widgets, &error);
    r = r < 0 ? r : ki_factory_start(factory, &error);
    if (r < 0) {
        fprintf(stderr, "%s: %s\n", ki_error_name(r), error.message);
    } else {
        getchar();
        print_owners(widgets);
    }
    ki_factory_unref(factory);
    ki_client_close(client);
    ki_resource_unref(resource);
    return r < 0;
}
