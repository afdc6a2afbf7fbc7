#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which credential plugins the command runs: those of the user's own kubeconfig, as kubectl does,
and those that were allowed; never those that another user may have written into the file."""
import os
import tempfile
import unittest

import cli_testing
from cli_testing import Case

CREDENTIAL = ('{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", '
              '"status": {"token": "t"}}')


class Plugins(Case):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory(dir=cli_testing.FOLDER)
        self.addCleanup(folder.cleanup)
        self.folder = os.path.abspath(folder.name)
        self.mark = self.path("ran")
        self.plugin = self.path("get-me-in")
        self.write("get-me-in", f"#!/bin/sh\ntouch '{self.mark}'\necho '{CREDENTIAL}'\n", 0o700)
        with open(self.server.kubeconfig, encoding="utf-8") as file:
            text = file.read()
        plugin = ("{exec: {apiVersion: client.authentication.k8s.io/v1, command: "
                  f"{self.plugin}, interactiveMode: Never}}}}")
        self.text = text.replace("user: {}", f"user: {plugin}")
        self.without_user = "\n".join(line for line in text.splitlines() if "users:" not in line)
        self.user_only = ("apiVersion: v1\nkind: Config\n"
                          f"users: [{{name: me, user: {plugin}}}]\n")

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text, mode):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(self.path(name), mode)
        return self.path(name)

    def get(self, kubeconfig, *words, env=None):
        """Whether the plugin ran; the exit code; what was said."""
        code, _, err = self.call("get", "pods", *words, kubeconfig=False,
                                 env={"KUBECONFIG": kubeconfig, **(env or {})})
        ran = os.path.exists(self.mark)
        if ran:
            os.unlink(self.mark)
        return ran, code, err

    def assert_runs(self, *words, env=None):
        ran, code, err = self.get(*words, env=env)
        self.assertEqual((ran, code), (True, 0), err)

    def assert_refuses(self, *words, says=(), env=None):
        ran, code, err = self.get(*words, env=env)
        self.assertEqual((ran, code), (False, 1), err)
        for text in says:
            self.assertIn(text, err)

    def test_those_of_the_own_file_run(self):
        for mode in (0o600, 0o644, 0o400):
            self.assert_runs(self.write("config", self.text, mode))
            os.unlink(self.path("config"))
        own = self.write("config", self.text, 0o600)
        os.symlink(own, self.path("link"))
        self.assert_runs(self.path("link"))

    def test_none_forbids_them(self):
        own = self.write("config", self.text, 0o600)
        self.assert_refuses(own, "--allow-exec=none", says=[own, "forbidden by --allow-exec=none"])
        self.assert_refuses(own, "--allow-exec=none", "--allow-exec=any")
        self.assert_refuses(own, env={"KINFORMER_ALLOW_EXEC": "none"})
        self.assert_runs(own, "--allow-exec=any")

    def test_a_list_is_all_that_may_run(self):
        own = self.write("config", self.text, 0o600)
        self.assert_refuses(own, "--allow-exec=other",
                            says=[own, "not allowed", f"--allow-exec={self.plugin}"[:40]])
        self.assert_runs(own, f"--allow-exec={self.plugin}")

    def test_files_that_a_group_may_write_need_consent(self):
        shared = self.write("config", self.text, 0o620)
        self.assert_refuses(shared, says=[shared, "can be written by its group or by others",
                                          "--allow-exec="])
        self.assert_runs(shared, f"--allow-exec={self.plugin}")
        self.assert_runs(shared, env={"KINFORMER_ALLOW_EXEC": "any"})
        os.symlink(shared, self.path("link"))
        self.assert_refuses(self.path("link"))

    @unittest.skipUnless(os.geteuid() == 0, "only root gives files away")
    def test_files_of_others_need_consent(self):
        foreign = self.write("config", self.text, 0o644)
        os.chown(foreign, 12345, -1)
        self.assert_refuses(foreign, says=[foreign, "is owned by another user"])
        self.assert_runs(foreign, "--allow-exec=any")

    def test_of_several_files_the_one_with_the_user_counts(self):
        shared = self.write("shared", self.without_user, 0o620)
        own = self.write("own", self.user_only, 0o600)
        self.assert_runs(f"{shared}:{own}")
        os.chmod(shared, 0o600)
        os.chmod(own, 0o620)
        self.assert_refuses(f"{shared}:{own}", says=[own])


if __name__ == "__main__":
    cli_testing.main()
