#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Mistakes in the use of typed views are errors of the compiler: typos in names of fields, types
and paths, and views of the wrong type. Also checks that deprecated fields warn, and what including
a header costs: prints it, and fails only if it is far too much.

Usage: views_refuse.py INCLUDE-FOLDER C-COMPILER
"""
import subprocess
import sys
import time

PROLOGUE = """#include <kinformer/api/apps_v1.h>
#include <kinformer/api/core_v1.h>
int f(const ki_object *object, struct ki_edit *edit);
int f(const ki_object *object, struct ki_edit *edit)
{
    ki_core_v1_Pod pod = ki_core_v1_Pod_of(object);
    ki_core_v1_PodSpec spec = ki_core_v1_Pod_spec(pod);
    ki_core_v1_PodSpec_edit to = ki_core_v1_Pod_edit_spec(ki_core_v1_Pod_edit_of(edit));
    (void)spec;
    (void)to;
    %s
    return 0;
}
"""
ACCEPTED = [
    'static const char *const keep = KI_PATHS(core_v1, Pod, spec.nodeName, status); (void)keep;',
    'static const char *const keep = KI_PATHS(core_v1, Pod, spec.containers->ports->name, status);'
    ' (void)keep;',
    'static const char *const field = KI_FIELD(core_v1, Pod, spec.nodeName, "=a"); (void)field;',
    "(void)ki_core_v1_PodSpec_nodeName(spec);",
    'static const char *const path = KI_PATH(core_v1, Pod, spec.nodeName); (void)path;',
    'static const char *const path = KI_PATH(core_v1, Pod, status.containerStatuses[0].image);'
    ' (void)path;',
    "KI_EACH (ki_core_v1_Container, c, ki_core_v1_PodSpec_containers(spec)) { (void)c; }",
    'ki_core_v1_PodSpec_set_nodeName(to, "a");',
    "ki_core_v1_PodSpec_set_affinity(to, ki_core_v1_PodSpec_affinity(spec));",
    "(void)ki_core_v1_PodSpec_edit_containers_by_name(to, \"a\");",
    "ki_core_v1_PodSpec_remove_serviceAccount(to);",  # deprecated, but may be removed
]
REFUSED = [
    'static const char *const keep = KI_PATHS(core_v1, Pod, spec.nodeName, spec.x); (void)keep;',
    'static const char *const keep = KI_PATHS(core_v1, Pod, spec.x, spec.nodeName); (void)keep;',
    'static const char *const keep = KI_PATHS(core_v1, Pod, spec.containers->imag); (void)keep;',
    'static const char *const keep = KI_PATHS(core_v1, Pod, status, spec.nodeName->x); (void)keep;',
    'static const char *const keep = KI_PATHS(core_v1, Pod, spec.containers.image); (void)keep;',
    'static const char *const field = KI_FIELD(core_v1, Pod, spec.nodName, "=a"); (void)field;',
    "(void)ki_core_v1_PodSpec_nodName(spec);",
    "(void)ki_core_v1_PodSpec_nodeName(pod);",
    "ki_core_v1_NodeSpec node = ki_core_v1_Pod_spec(pod); (void)node;",
    "KI_EACH (ki_core_v1_Volume, c, ki_core_v1_PodSpec_containers(spec)) { (void)c; }",
    "KI_EACH (ki_text, c, ki_core_v1_PodSpec_nodeSelector(spec)) { (void)c; }",
    "(void)ki_text_is(ki_core_v1_PodSpec_priority(spec), \"1\");",
    "(void)ki_text_is(ki_core_v1_PodSpec_nodeName(spec), KI_CORE_V1_PodPhase_Runing);",
    'static const char *const path = KI_PATH(core_v1, Pod, spec.nodName); (void)path;',
    'static const char *const path = KI_PATH(core_v1, Pod, spec.nodeName.x); (void)path;',
    'static const char *const path = KI_PATH(core_v1, Pood, spec.nodeName); (void)path;',
    "(void)ki_core_v1_PodSpec_serviceAccount(spec);",  # deprecated
    'ki_core_v1_PodSpec_set_nodName(to, "a");',
    'ki_core_v1_PodSpec_set_nodeName(spec, "a");',
    "ki_core_v1_PodSpec_set_nodeName(to, 1);",
    "ki_core_v1_PodSpec_set_nodeName(to, ki_core_v1_PodSpec_nodeName(spec));",  # that is copy
    'ki_core_v1_PodSpec_set_priority(to, "1");',
    'ki_core_v1_PodSpec_set_hostNetwork(to, "true");',
    "ki_core_v1_PodSpec_set_affinity(to, spec);",
    "ki_core_v1_NodeSpec_edit node = ki_core_v1_Pod_edit_spec(ki_core_v1_Pod_edit_of(edit));"
    " (void)node;",
    "(void)ki_core_v1_PodSpec_edit_of(edit);",
    'ki_text_map_set(ki_core_v1_PodSpec_edit_overhead(to), "cpu", "1");',
    "ki_core_v1_Volume_list_append(ki_core_v1_PodSpec_edit_containers(to));",
    'ki_core_v1_PodSpec_set_serviceAccount(to, "a");',  # deprecated
]
SECONDS_MAX = 5  # on a busy machine; 0.12 s of processor time on an idle one


def compiles(include, compiler, statement):
    return subprocess.run(
        [compiler, "-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only",
         f"-I{include}", "-x", "c", "-"], input=PROLOGUE % statement, text=True, check=False,
        stderr=subprocess.DEVNULL).returncode == 0


def main(include, compiler):
    bad = [f"refused: {one}" for one in ACCEPTED if not compiles(include, compiler, one)]
    start = time.perf_counter()
    bad += [f"accepted: {one}" for one in REFUSED if compiles(include, compiler, one)]
    seconds = (time.perf_counter() - start) / len(REFUSED)
    print(f"{seconds:.2f} s to include core_v1.h and apps_v1.h")
    if seconds > SECONDS_MAX:
        bad.append("that is too long")
    for complaint in bad:
        print(complaint)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
