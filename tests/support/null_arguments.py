#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the calls of test_null_arguments.c: every public function that returns int or nothing,
once for each pointer that must not be NULL, with NULL there and elsewhere pointers that nobody may
follow. So all arguments must be looked at before any of them is used. A function that comes to the
headers is tested without a word here, unless it takes something that may be NULL.

Usage: null_arguments.py FOLDER-OF-HEADERS OUTPUT
"""
import re
import sys
from pathlib import Path

# Arguments that may be NULL: of any function, and of some. The headers say so.
ANY = {"error", "user", "alloc", "reterr_status", "ret_call", "ret_registration", "ret_reason",
       "selector"}
SOME = {
    "ki_apiserver_client": {"options"},
    "ki_apiserver_delete": {"name_space"},
    "ki_apiserver_get": {"name_space"},
    "ki_apiserver_list": {"name_space", "label_selector"},
    "ki_apiserver_load": {"ret_count"},
    "ki_apiserver_load_file": {"ret_count"},
    "ki_apiserver_new": {"options"},
    "ki_apiserver_set_faults": {"faults"},
    "ki_buf_add_text": {"text"},
    "ki_client_apply": {"ret_object"},
    "ki_client_apply_json": {"ret_object"},
    "ki_client_check_live": {"options", "report"},
    "ki_client_check_ready": {"options", "report"},
    "ki_client_create": {"ret_object"},
    "ki_client_create_or_patch": {"name_space", "current", "ret_object"},
    "ki_client_delete": {"name_space"},
    "ki_client_do": {"ret_response"},
    "ki_client_factory": {"options"},
    "ki_client_get": {"name_space"},
    "ki_client_informer": {"options"},
    "ki_client_list": {"name_space", "options"},
    "ki_client_modify": {"subresource", "ret_object"},
    "ki_client_new": {"options"},
    "ki_client_notify_systemd": {"options"},
    "ki_client_patch": {"name_space", "ret_object"},
    "ki_client_patch_edit": {"subresource", "ret_object"},
    "ki_client_update": {"ret_object"},
    "ki_client_update_status": {"ret_object"},
    "ki_config_in_cluster": {"options"},
    "ki_config_load": {"options"},
    "ki_consistency_clear": {"uid"},
    "ki_consistency_new": {"options"},
    "ki_consistency_will_delete": {"uid"},
    "ki_consistency_wrote": {"uid"},
    "ki_controller_start": {"client"},
    "ki_controller_watch": {"options"},
    "ki_delta_fifo_new": {"options"},
    "ki_edit_new": {"object", "options"},
    "ki_factory_informer": {"options"},
    "ki_factory_release": {"informer"},
    "ki_fifo_new": {"options"},
    "ki_index_iter_next": {"ret_value", "ret_count"},
    "ki_informer_add_handler": {"options"},
    "ki_informer_enqueue": {"options"},
    "ki_informer_list": {"name_space"},
    "ki_informer_on_change": {"options"},
    "ki_informer_report_failure": {"object"},
    "ki_projection_new": {"keep", "drop"},
    "ki_recorder_event": {"action", "note"},
    "ki_value_iter_next": {"ret_key"},
    # A writer records what is wrong with the other arguments, and reports it at the end.
    "ki_json_base64": {"name"},
    "ki_json_begin_list": {"name"},
    "ki_json_begin_map": {"name"},
    "ki_json_bool": {"name"},
    "ki_json_double": {"name"},
    "ki_json_int64": {"name"},
    "ki_json_member": {"name", "value"},
    "ki_json_micro_time": {"name"},
    "ki_json_new": {"options"},
    "ki_json_null": {"name"},
    "ki_json_owner_reference": {"owner"},
    "ki_json_raw": {"name", "text"},
    "ki_json_str": {"name"},
    "ki_json_string": {"name", "text"},
    "ki_json_time": {"name"},
    "ki_json_uint64": {"name"},
    "ki_json_value": {"name", "value"},
    "ki_lister_get": {"name_space"},
    "ki_lister_list": {"name_space"},
    "ki_loop_new": {"options"},
    "ki_manager_controller": {"ret_controller"},
    "ki_manager_serve": {"options", "ret_server"},
    "ki_monitor_server_new": {"options"},
    "ki_object_diff": {"options"},
    "ki_object_from_json": {"options"},
    "ki_object_from_protobuf": {"options"},
    "ki_object_merge": {"options"},
    "ki_object_merge_value": {"options"},
    "ki_queue_bookmark": {"resource_version"},
    "ki_rate_limiter_bucket": {"options"},
    "ki_rate_limiter_default": {"options"},
    "ki_rate_limiter_exponential": {"options"},
    "ki_rate_limiter_fast_slow": {"options"},
    "ki_rate_limiter_max_of": {"options"},
    "ki_rate_limiter_with_max_wait": {"options"},
    "ki_simple_informer_new": {"options"},
    "ki_status_from_http": {"verb", "resource", "name"},
    "ki_store_bookmark": {"resource_version"},
    "ki_store_delete": {"resource_version"},
    "ki_store_new": {"options"},
    "ki_store_replace": {"resource_version"},
    "ki_txn_delete": {"resource_version"},
    "ki_txn_set_resource_version": {"resource_version"},
    "ki_workqueue_add_with": {"options"},
    "ki_workqueue_new": {"options"},
}

# Changes of an edit keep that an argument is NULL in the edit, so that must be there.
STICKY = ("ki_edit_set_", "ki_edit_add_", "ki_edit_append_", "ki_edit_remove")

# Places of an edit are values, which are of no edit if they are all 0: then nothing happens.
PLACES = "ki_place_"

# A buffer that is to be made must be there: the only one of its kind.
LEFT_OUT = {"ki_buf_init"}

# Of "selector" only that of listers may be NULL.
NEVER = {"ki_selector_print": {"selector"}, "ki_field_selector_print": {"selector"},
         "ki_field_selector_requires": {"selector"}}

DECLARATION = re.compile(r"KI_API\s+(?:KI_NODISCARD\s+)?(int|void)\s+(ki_\w+)"
                         r"\(((?:[^()]|\([^()]*\))*)\)\s*;")
VALUES = {"ki_str": 'ki_str_from("a")', "bool": "false", "char": "'a'", "size_t": "1",
          "ki_text": '(ki_text){"a", 1, NULL}', "ki_bytes": '(ki_bytes){"a", 1, NULL}',
          "ki_quantity": '(ki_quantity){{"1", 1, NULL}}', "ki_place": "(ki_place){NULL, 0}",
          "ki_value": "(ki_value){0}", "struct ki_timestamp": "(ki_timestamp){0, 0}",
          "struct ki_text": '(ki_text){"a", 1, NULL}',
          "struct ki_quantity": '(ki_quantity){{"1", 1, NULL}}',
          "struct ki_int_or_string": "ki_int_or_string_int(1)"}


def split(parameters):
    """Each parameter of a list as (type, name)."""
    parts = re.split(r",\s*(?![^()]*\))", " ".join(parameters.split()))
    for part in parts:
        pointer = re.match(r"(.*\(\*)(\w+)(\)\(.*)", part)
        plain = re.match(r"(.*?)(\w+)$", part)
        if pointer:
            yield pointer[1] + pointer[3], pointer[2]
        elif plain and plain[1]:
            yield plain[1].strip(), plain[2]


def functions(folder):
    """(result, name, [(type, parameter)]) of every public function that returns int or nothing."""
    for header in sorted(Path(folder).rglob("*.h")):
        text = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.DOTALL)
        for result, name, parameters in DECLARATION.findall(text):
            if name not in LEFT_OUT:
                yield result, name, list(split(parameters))


def is_function(kind):
    return "(*" in kind or kind in ("ki_queue_process", "ki_call_done", "ki_transform",
                                    "ki_watch_error_handler", "ki_mutate")


def is_pointer(kind):
    return "*" in kind or is_function(kind)


def required(name, parameters):
    if name.startswith(STICKY):
        return ["edit"]
    if name.startswith(PLACES):
        return ["at"]
    optional = (ANY - NEVER.get(name, set())) | SOME.get(name, set())
    return [p for kind, p in parameters if is_pointer(kind) and p not in optional]


def sample(kind, parameter):
    if (kind, parameter) == ("ki_error *", "error"):
        return "error"
    if parameter == "user":
        return "NULL"
    if is_function(kind):
        return f"({kind})poison_function"
    if is_pointer(kind):
        return "poison"
    return VALUES.get(kind, "0")


def write_calls(result, name, parameters, out):
    has_error = ("ki_error *", "error") in parameters
    out.append(f"static void call_{name}(ki_error *error)\n{{\n    (void)error;\n")
    for missing in required(name, parameters):
        arguments = ", ".join("NULL" if p == missing and is_pointer(kind) else sample(kind, p)
                              for kind, p in parameters)
        if result == "int":
            out.append(f'    expect("{missing}", {name}({arguments}), '
                       f'{"error" if has_error else "NULL"});\n')
        else:
            out.append(f"    {name}({arguments});\n")
    out.append("}\n\n")


def main(folder, output):
    known = list(functions(folder))
    out = ["/* Made by null_arguments.py. */\n\n"]
    out += [f"#include <kinformer/{header.relative_to(folder)}>\n"
            for header in sorted(Path(folder).rglob("*.h"))]
    for function in known:
        write_calls(*function, out)
    out.append("static const struct {\n    const char *name;\n    void (*call)(ki_error *error);\n"
               "} calls[] = {\n")
    out += [f'    {{"{name}", call_{name}}},\n' for _, name, _ in known]
    out.append("};\n")
    Path(output).write_text("".join(out))
    return 0 if len(known) > 200 else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
