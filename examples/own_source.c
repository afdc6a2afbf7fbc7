/* SPDX-License-Identifier: Apache-2.0 */
/* A reflector on its own: it keeps a store synced with a source that the program fills itself. Here
 * that is a house with a few devices, without an API server. */
#include <stdio.h>

#include <kinformer/kinformer.h>
#include <kinformer/parts/engine.h>
#include <kinformer/parts/local_source.h>
#include <kinformer/parts/reflector.h>
#include <kinformer/parts/source.h>
#include <kinformer/parts/store_write.h>

/* A device as it is now. Each change has a higher version than the one before. */
static int put(ki_local_source *house, const char *name, const char *state, int version,
               ki_error *error)
{
    KI_AUTO(ki_json) json = NULL;
    KI_AUTO(ki_object) device = NULL;
    KI_TRY(ki_json_new(NULL, &json, error));
    ki_json_format(json, NULL, "{metadata: {name: %s, resourceVersion: '%d'}, state: %s}", name,
                   version, state);
    KI_TRY(ki_json_object(json, &device, error));
    return ki_local_source_put(house, device, error);
}

static void show(ki_store *store, ki_reflector *reflector)
{
    ki_health health = KI_OPTIONS_INIT(ki_health);
    ki_object *lamp = ki_store_get(store, "lamp");
    if (lamp != NULL && ki_reflector_get_health(reflector, &health, NULL) == 0) {
        printf("%s; the lamp is at version %s\n", ki_reflector_state_name(health.state),
               ki_object_resource_version(lamp));
    }
    ki_object_unref(lamp);
}

static int reflect(ki_engine *engine, ki_local_source *house, ki_store *store, ki_error *error)
{
    ki_source source = KI_OPTIONS_INIT(ki_source);
    ki_reflector_target target = KI_OPTIONS_INIT(ki_reflector_target);
    ki_local_source_table(house, &source);
    ki_reflector_target_store(store, &target);
    ki_reflector_options options = KI_OPTIONS_INIT(ki_reflector_options);
    options.engine = engine;
    options.source = &source;
    options.target = &target;
    options.name = "devices";
    ki_reflector *reflector = NULL;
    int r = ki_reflector_new(&options, &reflector, error);
    if (r < 0) {
        source.destroy(source.user);
        target.destroy(target.user);
        return r;
    }
    ki_reflector_start(reflector);
    ki_engine_run(engine, 0); /* an event loop would do this whenever ki_engine_deadline() is due */
    show(store, reflector);
    r = put(house, "lamp", "on", 3, error); /* from any thread */
    ki_engine_run(engine, 0);
    show(store, reflector);
    ki_reflector_stop(reflector);
    ki_engine_run(engine, 0);
    ki_reflector_unref(reflector);
    return r;
}

int main(void)
{
    ki_engine_options options = KI_OPTIONS_INIT(ki_engine_options);
    options.clock = ki_clock_system();
    options.random = ki_random_system();
    ki_engine *engine = NULL;
    ki_local_source *house = NULL;
    ki_store *store = NULL;
    ki_error error = KI_ERROR_INIT;
    int r = ki_engine_new(&options, &engine, &error);
    if (r == 0) {
        r = ki_local_source_new(KI_OPTIONS(ki_local_source_options, .engine = engine), &house,
                                &error);
    }
    r = r < 0 ? r : put(house, "door", "closed", 1, &error);
    r = r < 0 ? r : put(house, "lamp", "off", 2, &error);
    r = r < 0 ? r : ki_store_new(NULL, &store, &error);
    r = r < 0 ? r : reflect(engine, house, store, &error);
    if (r < 0) {
        printf("failed: %s\n", error.message);
    }
    ki_store_unref(store);
    ki_local_source_unref(house);
    ki_engine_unref(engine);
    return r < 0;
}
