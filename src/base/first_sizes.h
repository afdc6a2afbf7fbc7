/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes of the public structs in 0.1: the meaning of a `size` of 0, and the minimum for any other
 * value. Written by tools/check-abi --refresh before 0.1; existing lines must not change
 * afterwards, and structs added later get a line. */
#ifndef KI_BASE_FIRST_SIZES_H
#define KI_BASE_FIRST_SIZES_H

#include <stddef.h>

#if defined(__LP64__)
/* clang-format off */
enum {
    KI__FIRST_SIZE_ki_add_options = 24,
    KI__FIRST_SIZE_ki_alloc = 48,
    KI__FIRST_SIZE_ki_apiserver_options = 144,
    KI__FIRST_SIZE_ki_apiserver_stats = 48,
    KI__FIRST_SIZE_ki_async_options = 32,
    KI__FIRST_SIZE_ki_change = 48,
    KI__FIRST_SIZE_ki_check_options = 48,
    KI__FIRST_SIZE_ki_client_options = 120,
    KI__FIRST_SIZE_ki_clock = 32,
    KI__FIRST_SIZE_ki_condition = 56,
    KI__FIRST_SIZE_ki_config_credentials = 56,
    KI__FIRST_SIZE_ki_config_environment = 24,
    KI__FIRST_SIZE_ki_config_exec = 104,
    KI__FIRST_SIZE_ki_config_impersonation = 56,
    KI__FIRST_SIZE_ki_config_options = 256,
    KI__FIRST_SIZE_ki_config_tls = 96,
    KI__FIRST_SIZE_ki_consistency_options = 24,
    KI__FIRST_SIZE_ki_controller_options = 104,
    KI__FIRST_SIZE_ki_controller_stats = 64,
    KI__FIRST_SIZE_ki_crd = 112,
    KI__FIRST_SIZE_ki_delta = 32,
    KI__FIRST_SIZE_ki_deltas = 40,
    KI__FIRST_SIZE_ki_diff_change = 120,
    KI__FIRST_SIZE_ki_diff_options = 40,
    KI__FIRST_SIZE_ki_edit_options = 40,
    KI__FIRST_SIZE_ki_engine_options = 104,
    KI__FIRST_SIZE_ki_enqueue_options = 56,
    KI__FIRST_SIZE_ki_error = 1064,
    KI__FIRST_SIZE_ki_error_hook = 24,
    KI__FIRST_SIZE_ki_event = 56,
    KI__FIRST_SIZE_ki_factory_options = 136,
    KI__FIRST_SIZE_ki_field_size = 40,
    KI__FIRST_SIZE_ki_handler = 80,
    KI__FIRST_SIZE_ki_handler_options = 64,
    KI__FIRST_SIZE_ki_health = 456,
    KI__FIRST_SIZE_ki_http_request = 96,
    KI__FIRST_SIZE_ki_http_sink = 40,
    KI__FIRST_SIZE_ki_index = 40,
    KI__FIRST_SIZE_ki_informer_options = 192,
    KI__FIRST_SIZE_ki_json_options = 32,
    KI__FIRST_SIZE_ki_leader_options = 88,
    KI__FIRST_SIZE_ki_list_meta = 32,
    KI__FIRST_SIZE_ki_list_options = 80,
    KI__FIRST_SIZE_ki_local_source_options = 40,
    KI__FIRST_SIZE_ki_log = 32,
    KI__FIRST_SIZE_ki_log_record = 48,
    KI__FIRST_SIZE_ki_loop_options = 80,
    KI__FIRST_SIZE_ki_manager_options = 72,
    KI__FIRST_SIZE_ki_memory = 88,
    KI__FIRST_SIZE_ki_monitor_server_options = 104,
    KI__FIRST_SIZE_ki_object_options = 56,
    KI__FIRST_SIZE_ki_owner = 80,
    KI__FIRST_SIZE_ki_pager_options = 72,
    KI__FIRST_SIZE_ki_pager_result = 40,
    KI__FIRST_SIZE_ki_queue_options = 64,
    KI__FIRST_SIZE_ki_random = 24,
    KI__FIRST_SIZE_ki_rate_limiter = 56,
    KI__FIRST_SIZE_ki_rate_limiter_options = 32,
    KI__FIRST_SIZE_ki_reader = 64,
    KI__FIRST_SIZE_ki_recorder_options = 40,
    KI__FIRST_SIZE_ki_recorder_stats = 64,
    KI__FIRST_SIZE_ki_reference = 88,
    KI__FIRST_SIZE_ki_reflector_options = 224,
    KI__FIRST_SIZE_ki_reflector_target = 104,
    KI__FIRST_SIZE_ki_registration_stats = 32,
    KI__FIRST_SIZE_ki_replacement = 48,
    KI__FIRST_SIZE_ki_replicas = 32,
    KI__FIRST_SIZE_ki_report = 56,
    KI__FIRST_SIZE_ki_request = 200,
    KI__FIRST_SIZE_ki_resource_options = 72,
    KI__FIRST_SIZE_ki_response = 104,
    KI__FIRST_SIZE_ki_retry_watcher_options = 56,
    KI__FIRST_SIZE_ki_selection = 32,
    KI__FIRST_SIZE_ki_simple_informer_options = 112,
    KI__FIRST_SIZE_ki_source = 72,
    KI__FIRST_SIZE_ki_source_http_options = 64,
    KI__FIRST_SIZE_ki_source_sink = 56,
    KI__FIRST_SIZE_ki_status_cause = 152,
    KI__FIRST_SIZE_ki_store_options = 80,
    KI__FIRST_SIZE_ki_threads = 24,
    KI__FIRST_SIZE_ki_transport = 64,
    KI__FIRST_SIZE_ki_watch_failure = 64,
    KI__FIRST_SIZE_ki_workqueue_options = 88,
    KI__FIRST_SIZE_ki_workqueue_stats = 296,
};
/* clang-format on */
#define KI__FIRST_SIZE(type) ((size_t)KI__FIRST_SIZE_##type)
#else
#define KI__FIRST_SIZE(type) (sizeof(type)) /* no release for other systems yet */
#endif

#endif
