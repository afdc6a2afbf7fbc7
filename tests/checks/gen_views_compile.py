#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The headers of `kinformer gen-views` compile, each alone, as C11 and as C++17, and every method
of their classes can be called; also that of a definition which tries to get its own code into the
header, of which nothing but names, strings and numbers must arrive there.

Usage: gen_views_compile.py KINFORMER SOURCE-FOLDER C-COMPILER CXX-COMPILER
"""
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only"]
READS = ("TEXT BOOL INT32 INT64 DOUBLE BYTES TIME DURATION QUANTITY INT_OR_STRING VALUE "
         "CHILD").split()
STRING = re.compile(r'"(?:[^"\\\n]|\\[0-7]{3}|\\")*"')
DIRECTIVES = re.compile(
    r"#(ifndef (KI_VIEW_AGAIN|__cplusplus)|ifdef __cplusplus|endif|undef KI_T|define KI_T \w+|"
    r"define KI_\w+( \\| \"\"|)|define KI_\w+|"
    r"if !defined\(\w+\) \|\| defined\(KI_VIEW_AGAIN\)|"
    r"if defined\(__cplusplus\) && !defined\(KI_VIEW_AGAIN\)|"
    r"include <kinformer/(api/meta_v1\.hp?p?|view\.h|cpp/view_macros\.inc)>)")


def call_all():
    """The second part of a program that calls all methods: the macros of fields, once more."""
    lines = ["#define KI_VIEW_AGAIN", "#undef KI_BEGIN_DECLS", "#define KI_BEGIN_DECLS",
             "#undef KI_END_DECLS", "#define KI_END_DECLS",
             "#define KI_CPP_NAME(f, _f) KI_CPP_NAME_OF(KI_CPP_WORD##_f, f, ~)",
             "#define KI_CPP_NAME_OF(...) KI_CPP_SECOND(__VA_ARGS__)",
             "#define KI_CPP_SECOND(first, second, ...) second",
             "#define CALL(f, _f) (void)view.KI_CPP_NAME(f, _f)(); (void)view.has##_f(); "
             "(void)view.get##_f(&value); (void)to.remove##_f();",
             "#define CALL_BYTES(f, _f) CALL(f, _f) (void)to.set##_f(\"x\");",
             "#define CALL_SET(f, _f) CALL(f, _f) (void)to.set##_f(view.KI_CPP_NAME(f, _f)());",
             "#define CALL_CHILD(f, _f) CALL_SET(f, _f) (void)to.KI_CPP_NAME(f, _f)();"]
    for name in ("TYPE(T)", "LIST(T)", "MAP(T)", "INNER(L)"):
        lines += [f"#undef KI_VIEW_{name.split('(')[0]}", f"#define KI_VIEW_{name}"]
    lines += ["#undef KI_VIEW_KIND", "#define KI_VIEW_KIND(T, a, k) "
              "inline void T##_root(const ki_object *o, ki_edit *e) { (void)ki::typed<T>::of(o); "
              "(void)ki::typed<T>::edit_of(e); }",
              "#undef KI_VIEW_BEGIN", "#define KI_VIEW_BEGIN inline void "
              "KI_VIEW_NAME(KI_T, _all)(ki::typed<KI_T> view, ki::typed_edit<KI_T> to) "
              "{ ki_value value{}; (void)value; (void)to;",
              "#undef KI_VIEW_END", "#define KI_VIEW_END }",
              "#undef KI_VIEW_KEYED", "#define KI_VIEW_KEYED(f, R, key, n) "
              '(void)view.f##_by_##key("x"); (void)to.f##_by_##key("x");']
    for name in READS:
        call = "CALL_" + (name if name in ("BYTES", "CHILD") else "SET")
        for suffix in ("", "_OR", "_AS", "_OR_AS"):
            lines += [f"#undef KI_VIEW_{name}{suffix}",
                      f"#define KI_VIEW_{name}{suffix}(f, ...) {call}(f, _##f)"]
    return "\n".join(lines) + "\n"


def compile_one(compiler, standard, source, include, header):
    text = f'#include "{header}"\n'
    if "++" in standard:
        text += call_all() + text
    done = subprocess.run(
        [compiler, f"-std={standard}", *WARNINGS, f"-I{source}/include", f"-I{include}", "-x",
         "c++" if "++" in standard else "c", "-"], input=text, text=True, check=False,
        capture_output=True)
    errors = [line for line in done.stderr.splitlines() if "error" in line][:5]
    return [f"{header} as {standard}: {line}" for line in errors or done.stderr.splitlines()[:3]] \
        if done.returncode else []


def judge_text(header):
    """What of the text is not made by the generator."""
    bad = []
    if re.search(r"[^\n -~]", header):
        bad.append("bytes that are not printable ASCII")
    bare = STRING.sub('""', header)
    if re.search(r"\bINJECTED\b", re.sub(r"/\*.*?\*/", "", bare, flags=re.DOTALL)):
        bad.append("INJECTED as a word of its own")
    for line in bare.splitlines():
        if line.startswith("#") and not DIRECTIVES.fullmatch(line.removesuffix(" \\")) \
                and not DIRECTIVES.fullmatch(line):
            bad.append(f"directive: {line}")
    for comment in re.findall(r"/\*.*?\*/", bare, re.DOTALL):
        if '"' in comment or "/*" in comment[2:]:
            bad.append(f"comment: {comment}")
    if bare.count("/*") != bare.count("*/"):
        bad.append("comments that do not match")
    return bad


def main(program, source, c, cxx):
    sys.path.insert(0, os.path.join(source, "tests", "support"))
    import crd_cases  # pylint: disable=import-outside-toplevel
    data = os.path.join(source, "tests", "data", "crds")
    bad = []
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "hostile.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(crd_cases.hostile(), file)
        inputs = [path] + [os.path.join(data, name) for name in sorted(os.listdir(data))]
        jobs = []
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for path in inputs:
                name = os.path.splitext(os.path.basename(path))[0] + ".h"
                output = os.path.join(folder, name)
                subprocess.run([program, "gen-views", "--output", output, path], check=True)
                with open(output, encoding="utf-8") as file:
                    bad += [f"{name}: {what}" for what in judge_text(file.read())]
                standards = [(c, "c11"), (cxx, "c++17")]
                if name == "hostile.h":
                    standards += [(c, "gnu11"), (cxx, "gnu++20")]
                jobs += [pool.submit(compile_one, compiler, standard, source, folder, name)
                         for compiler, standard in standards]
            for job in jobs:
                bad += job.result()
    print(f"{len(inputs)} headers, {len(jobs)} programs")
    for complaint in bad:
        print(complaint)
    sys.exit(1 if bad or len(inputs) < 31 else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
