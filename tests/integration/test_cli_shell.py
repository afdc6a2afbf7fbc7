#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`kinformer top`, `completion`, `version` and `help`, and what a terminal sees."""
import os
import pty
import re
import shutil
import subprocess
import tempfile
import threading
import time
import unittest

import cli_testing
from cli_testing import Case, on_terminal


def at_home(home):
    """An environment in which a shell finds nothing of the user's, and the program on its path."""
    folder = os.path.dirname(os.path.abspath(cli_testing.PROGRAM))
    return {**os.environ, "HOME": home, "ZDOTDIR": home, "TERM": "dumb",
            "PATH": folder + ":" + os.environ["PATH"]}


ZSH_SETUP = """autoload -Uz compinit
fpath=("$HOME" $fpath)
compinit -u -D
[[ -e $HOME/_kinformer ]] || source $HOME/script
show() { print -r -- "$BUFFER" >>$HOME/found; BUFFER= }
zle -N show
bindkey '^T' show
print ready >>$HOME/found
"""


def complete_in_zsh(script, lines, on_demand):
    """What becomes of lines behind "kinformer" when a person types TAB. The script is read at the
    start, or found by zsh when it is needed."""
    with tempfile.TemporaryDirectory() as home:
        for name, text in (("_kinformer" if on_demand else "script", script), ("setup", ZSH_SETUP)):
            with open(os.path.join(home, name), "w", encoding="utf-8") as file:
                file.write(text)
        pid, fd = pty.fork()
        if pid == 0:
            os.execvpe("zsh", ["zsh", "-f", "-i"], at_home(home))
        threading.Thread(target=drain, args=(fd,), daemon=True).start()
        os.write(fd, b"source ~/setup\n")
        found = os.path.join(home, "found")
        wait_for_lines(found, 1)
        for number, line in enumerate(lines):
            os.write(fd, f"kinformer {line}\t\x14".encode())
            wait_for_lines(found, number + 2)
        os.write(fd, b"exit\n")
        os.waitpid(pid, 0)
        os.close(fd)
        with open(found, encoding="utf-8") as file:
            return file.read().splitlines()[1:]


def drain(fd):
    try:
        while os.read(fd, 65536):
            pass
    except OSError:
        pass


def wait_for_lines(path, count):
    end = time.monotonic() + cli_testing.WAIT
    while time.monotonic() < end:
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                if file.read().count("\n") >= count:
                    return
        time.sleep(0.02)
    raise AssertionError(f"not {count} lines in {path}")


class Top(Case):
    def test_lines_elsewhere(self):
        self.pod("a")
        self.server.put("widgets", "shop", "w")
        code, out, err = self.call("top", "pods,widgets", "--count=2", "--interval=200ms")
        self.assertEqual((code, err), (0, ""))
        lines = out.splitlines()
        self.assertEqual(len(lines), 4)
        self.assertRegex(lines[2], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ pods state=watching "
                                   r"objects=1 received=[1-9]\d* memory=[1-9]\d* "
                                   r"object_bytes=[1-9]\d* index_bytes=[1-9]\d* version_bytes=0 "
                                   r"queue_bytes=0 oldest_snapshot_ms=0 events=0 "
                                   r"rate=0.0 lag=0 relists=0 listed=\ds$")
        self.assertIn("widgets.example.com state=watching", lines[3])

    def test_refused_resources_are_shown_and_others_continue(self):
        self.pod("a")
        self.server.refused["widgets"] = (403, "Forbidden", "not \x1byours")
        code, out, _ = self.call("top", "pods", "widgets", "--count=1", "--interval=500ms")
        self.assertEqual(code, 0)
        self.assertIn("pods state=watching objects=1 ", out)
        self.assertRegex(out, 'widgets.example.com state=backoff .* reason="not .*yours"')
        self.assertNotIn("\x1b", out)

    def test_a_picture_on_a_terminal(self):
        self.pod("a")
        seen, code = on_terminal("top", "pods", "--interval=100ms", "--count=3", "--kubeconfig",
                                 self.server.kubeconfig)
        self.assertEqual(code, 0)
        self.assertTrue(seen.startswith("\x1b[?1049h"))
        self.assertTrue(seen.endswith("\x1b[?1049l"))
        self.assertEqual(seen.count("\x1b[H"), 3)
        self.assertRegex(seen, "RESOURCE +STATE +OBJECTS +MEMORY +EVENTS/S +LAG +LISTED\r\n")
        self.assertIn("\x1b[32mwatching\x1b[0m", seen)

    def test_q_or_a_signal_ends_it_and_the_terminal_is_restored(self):
        self.pod("a")
        for ends in ((b"xq",), (b"Q",), (2,), (b"\x03",)):  # the last is Ctrl-C
            seen, code = on_terminal("top", "pods", "--interval=100ms", "--kubeconfig",
                                     self.server.kubeconfig, until=b"LISTED", signals=ends)
            self.assertEqual(code, 0, ends)
            self.assertTrue(seen.endswith("\x1b[?1049l"), ends)

    def test_a_picture_fits_its_terminal_and_tells_why(self):
        self.pod("a")
        self.server.refused["widgets"] = (403, "Forbidden", "not yours " * 30)
        for columns in (80, 200):
            seen, code = on_terminal("top", "pods", "widgets", "--interval=500ms", "--count=2",
                                     "--kubeconfig", self.server.kubeconfig, columns=columns)
            self.assertEqual(code, 0)
            last = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen.split("\x1b[H")[-1]).split("\r\n")
            self.assertLessEqual(max(map(len, last)), columns)
            self.assertRegex("\n".join(last), r"widgets.example.com +(backoff|streaming|listing) ")
            self.assertRegex("\n".join(last), "not yours not yours .*…")
            self.assertEqual("RECEIVED" in last[2], columns == 200)


class Terminal(Case):
    def test_colours_and_lines_that_fit(self):
        self.pod("web", app="x" * 300)
        seen, code = on_terminal("watch", "pods", "--kubeconfig", self.server.kubeconfig,
                                 until=b"shop/web", columns=60)
        self.assertEqual(code, 0)
        self.assertIn("\x1b[32m+\x1b[0m", seen)
        plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen)
        for line in plain.replace("\r", "").splitlines():
            self.assertLessEqual(len(line), 60, line)

    def test_changes_that_do_not_fit_have_a_line_each(self):
        self.pod("web")

        def change():
            while self.server.watches == 0:
                time.sleep(0.01)
            self.pod("web", app="sql", image="a" * 100, status={f"f{i}": i for i in range(12)})

        threading.Thread(target=change, daemon=True).start()
        seen, code = on_terminal("watch", "pods", "--kubeconfig", self.server.kubeconfig,
                                 until=b"more", columns=60)
        self.assertEqual(code, 0)
        self.assertIn("\r\n        metadata.labels.app: web -> sql\r\n", seen)
        self.assertIn("and 5 more; -o wide shows all", seen)

    def test_no_colours_if_they_are_not_wanted(self):
        self.pod("web")
        for words in (["--color=never"],):
            seen, _ = on_terminal("watch", "pods", "--until-synced", *words, "--kubeconfig",
                                  self.server.kubeconfig)
            self.assertNotIn("\x1b[3", seen)
        out = self.call("watch", "pods", "--until-synced", "--color=always")[1]
        self.assertIn("\x1b[32m", out)
        self.assertNotIn("\x1b", self.call("watch", "pods", "--until-synced")[1])


class Shell(Case):
    def test_version(self):
        code, out, _ = self.call("version", kubeconfig=False)
        self.assertEqual(code, 0)
        self.assertRegex(out, r"^kinformer \d+\.\d+\.\d+\n$")
        self.assertEqual(self.call("--version", kubeconfig=False)[1], out)

    def test_streams_that_are_closed_at_the_start(self):
        self.pod("a")
        for closed in ([0], [1], [2], [0, 1, 2]):
            def close(closed=tuple(closed)):
                for fd in closed:
                    os.close(fd)

            for words, expected in ((["get", "pods"], 0), (["get", "nonsense"], 3)):
                done = subprocess.run(
                    [cli_testing.PROGRAM, *words, "--kubeconfig", self.server.kubeconfig],
                    stdin=subprocess.DEVNULL, capture_output=True, timeout=cli_testing.WAIT,
                    preexec_fn=close, check=False)
                self.assertEqual(done.returncode, expected, (words, closed, done.stderr))
                self.assertEqual(done.stdout != b"", expected == 0 and 1 not in closed)
                self.assertEqual(done.stderr != b"", expected != 0 and 2 not in closed)

    def complete(self, *words):
        script = self.call("completion", "bash", kubeconfig=False)[1]
        script += (f"COMP_WORDS=({' '.join(repr(word) for word in words)})\n"
                   f"COMP_CWORD={len(words) - 1}\ncompopt() {{ :; }}\n_kinformer\n"
                   'printf "%s\\n" "${COMPREPLY[@]}"\n')
        done = subprocess.run(["bash", "-c", script], capture_output=True, check=True, text=True)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_bash_completes(self):
        self.assertEqual(self.complete("kinformer", "wa"), ["watch"])
        self.assertIn("get", self.complete("kinformer", ""))
        self.assertEqual(self.complete("kinformer", "watch", "--unt"), ["--until-synced"])
        self.assertEqual(self.complete("kinformer", "get", "--wh"), ["--where="])
        self.assertEqual(self.complete("kinformer", "get", "conf"), ["configmaps"])
        self.assertEqual(self.complete("kinformer", "completion", "z"), ["zsh"])
        self.assertEqual(self.complete("kinformer", "version", "--kube"), [])
        self.assertEqual(self.complete("kinformer", "-n", "shop", "wa"), ["watch"])
        self.assertEqual(self.complete("kinformer", "--namespace", "=", "get", "api"),
                         ["api-resources", "apiserver"])
        self.assertEqual(self.complete("kinformer", "-n", "shop", "get", "--wh"), ["--where="])
        self.assertEqual(self.complete("kinformer", "-A", "get", "conf"), ["configmaps"])

    def test_other_shells_have_scripts_too(self):
        for shell, option in (("zsh", "--until-synced"), ("fish", "-l until-synced")):
            code, out, _ = self.call("completion", shell, kubeconfig=False)
            self.assertEqual(code, 0)
            self.assertIn(option, out)
        self.assertEqual(self.call("completion", "tcsh", kubeconfig=False)[0], 2)

    @unittest.skipUnless(shutil.which("fish"), "fish is not there")
    def test_fish_completes(self):
        cases = [("wat", "watch"), ("watch --unt", "--until-synced"), ("help wa", "watch"),
                 ("watch config", "configmaps"), ("get pods --wh", "--where"),
                 ("completion z", "zsh"), ("watch --color al", "always"),
                 ("watch --kubeconfig /proc/self/statu", "/proc/self/status"),
                 ("version --kube", ""), ("-n shop wat", "watch"),
                 ("-n shop -A get --wh", "--where"), ("api-r", "api-resources")]
        script = self.call("completion", "fish", kubeconfig=False)[1]
        for words, _ in cases:
            script += f"echo '>'(complete -C 'kinformer {words}' | string replace -r '\\t.*' '')\n"
        with tempfile.TemporaryDirectory() as home:
            done = subprocess.run(["fish", "--no-config"], input=script, capture_output=True,
                                  check=True, text=True, env=at_home(home))
        self.assertEqual(done.stderr, "")
        found = [line[1:] for line in done.stdout.splitlines()]
        self.assertEqual(found, [answer for _, answer in cases])

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not there")
    def test_zsh_completes(self):
        cases = [("wat", "watch "), ("watch --unt", "watch --until-synced "),
                 ("watch config", "watch configmaps "), ("get pods --wh", "get pods --where="),
                 ("completion z", "completion zsh "), ("help wa", "help watch "),
                 ("watch --color al", "watch --color always "),
                 ("watch --kubeconfig /proc/self/statu", "watch --kubeconfig /proc/self/status "),
                 ("run pods --exec kinformer wat", "run pods --exec kinformer watch "),
                 ("version --kube", "version --kube"), ("-n shop wat", "-n shop watch "),
                 ("-n shop get config", "-n shop get configmaps ")]
        script = self.call("completion", "zsh", kubeconfig=False)[1]
        for on_demand in (False, True):
            found = complete_in_zsh(script, [words for words, _ in cases], on_demand)
            self.assertEqual([line.removeprefix("kinformer ") for line in found],
                             [answer for _, answer in cases])

    def test_the_manual_page_has_every_command_and_option(self):
        folder = os.path.dirname(os.path.abspath(__file__))
        page = os.path.join(folder, "../../man/kinformer.1")
        with open(page, encoding="utf-8") as file:
            text = file.read().replace("\\-", "-")
        commands = re.findall(r"^complete .* -a ([\w-]+) -d", self.call(
            "completion", "fish", kubeconfig=False)[1], re.MULTILINE)
        for command in commands:
            self.assertIn(f".SS {command}", text)
            out = self.call(command, "--help", kubeconfig=False)[1]
            for option in re.findall(r"--[a-z-]+", out.split("Options:")[-1].split("Exit")[0]):
                self.assertIn(option, text, command)

    def test_help_manual_page_and_documentation_have_the_same_exit_codes(self):
        root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
        listed = re.findall(r"^  (\d)  (.*)$", self.call("help", kubeconfig=False)[1], re.MULTILINE)
        self.assertEqual([int(code) for code, _ in listed], list(range(7)))
        for path, row in (("man/kinformer.1", ".TP\n.B %s\n%s"), ("docs/cli.md", "| %s | %s |")):
            with open(os.path.join(root, path), encoding="utf-8") as file:
                text = file.read()
            for code, meaning in listed:
                self.assertIn(row % (code, meaning), text, path)

    @unittest.skipUnless(shutil.which("groff"), "groff is not there")
    def test_the_manual_page_is_well_formed(self):
        folder = os.path.dirname(os.path.abspath(__file__))
        done = subprocess.run(["groff", "-man", "-Tutf8", "-ww",
                               os.path.join(folder, "../../man/kinformer.1")],
                              capture_output=True, check=True, text=True)
        self.assertEqual(done.stderr, "")


if __name__ == "__main__":
    cli_testing.main()
