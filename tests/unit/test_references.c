/* SPDX-License-Identifier: Apache-2.0 */
/* x = ki_x_ref(x) and x = ki_x_unref(x) compile without a warning for every handle, whether it is
 * held const or not where const is taken, and KI_AUTO() accepts all of them; tools/check-abi checks
 * that no type is missing. */
#include <kinformer/apiserver.h>
#include <kinformer/call.h>
#include <kinformer/config.h>
#include <kinformer/consistency.h>
#include <kinformer/diff.h>
#include <kinformer/discovery.h>
#include <kinformer/field_selector.h>
#include <kinformer/field_sizes.h>
#include <kinformer/kinformer.h>
#include <kinformer/leader.h>
#include <kinformer/monitor_server.h>
#include <kinformer/parts/engine.h>
#include <kinformer/parts/local_source.h>
#include <kinformer/parts/pager.h>
#include <kinformer/parts/queue.h>
#include <kinformer/parts/reflector.h>
#include <kinformer/parts/retry_watcher.h>
#include <kinformer/parts/simple_informer.h>
#include <kinformer/path.h>
#include <kinformer/projection.h>
#include <kinformer/recorder.h>
#include <kinformer/registration.h>

#include "support/test.h"

/* Handles that are counted; of those that one owner has; and those that are held const as well. */
#define COUNTED(X)        \
    X(ki_apiserver)       \
    X(ki_call)            \
    X(ki_client)          \
    X(ki_consistency)     \
    X(ki_controller)      \
    X(ki_engine)          \
    X(ki_factory)         \
    X(ki_informer)        \
    X(ki_leader)          \
    X(ki_local_source)    \
    X(ki_loop)            \
    X(ki_monitor_server)  \
    X(ki_pager)           \
    X(ki_queue)           \
    X(ki_recorder)        \
    X(ki_reflector)       \
    X(ki_registration)    \
    X(ki_retry_watcher)   \
    X(ki_simple_informer) \
    X(ki_snapshot)        \
    X(ki_store)           \
    X(ki_workqueue)
#define OWNED(X)      \
    X(ki_diff)        \
    X(ki_edit)        \
    X(ki_engine_task) \
    X(ki_field_sizes) \
    X(ki_json)        \
    X(ki_list)
#define CONSTANT(X)      \
    X(ki_config)         \
    X(ki_discovery)      \
    X(ki_field_selector) \
    X(ki_object)         \
    X(ki_path)           \
    X(ki_projection)     \
    X(ki_resource)       \
    X(ki_selector)

#define UNREF(type)          \
    {                        \
        type *x = NULL;      \
        x = type##_unref(x); \
        assert_null(x);      \
    }
#define REF_AND_UNREF(type)  \
    {                        \
        type *x = NULL;      \
        x = type##_ref(x);   \
        x = type##_unref(x); \
        assert_null(x);      \
    }
#define REF_AND_UNREF_CONST(type)   \
    {                               \
        const type *x = NULL;       \
        type *mine = type##_ref(x); \
        x = type##_unref(x);        \
        assert_null(x);             \
        assert_null(mine);          \
    }

#define AUTO(type)                        \
    {                                     \
        KI_AUTO(type) type##_auto = NULL; \
        assert_null(type##_auto);         \
    }

static void every_type_can_be_released_automatically(void **state)
{
    (void)state;
    OWNED(AUTO)
    COUNTED(AUTO)
    CONSTANT(AUTO)
}

static void references_keep_their_type(void **state)
{
    (void)state;
    OWNED(UNREF)
    COUNTED(REF_AND_UNREF)
    CONSTANT(REF_AND_UNREF)
    CONSTANT(REF_AND_UNREF_CONST)
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(references_keep_their_type),
        cmocka_unit_test(every_type_can_be_released_automatically),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
