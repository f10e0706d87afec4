"""A verb of the tests for what the base of all verbs does without a cluster: stop, hide and report."""

from __future__ import annotations

import base64
import os
import string
import subprocess
import time
from typing import ClassVar

from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError
from ansible_collections.psap.perf.plugins.module_utils.base.processes import die_with_parent
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult


class ActionModule(PerfAction):
    """Write a text that may contain a secret and variables of the environment, and take some time."""

    ARGUMENTS: ClassVar = {
        "text": {"type": "str", "default": ""},
        "secret": {"type": "str"},
        "file": {"type": "str"},
        "seconds": {"type": "float", "default": 0.0},
        "fails": {"type": "bool", "default": False},
    }
    RUNS_IN_CHECK_MODE = False

    def perform(self, context: VerbContext) -> VerbResult:
        """Write the text to the command's file, sleep in a child process, and return or raise the text."""
        args = context.args
        secret = context.secret(args["secret"]) if args["secret"] else ""
        encoded = base64.b64encode(secret.encode()).decode()
        text = string.Template(args["text"]).substitute(os.environ, SECRET=secret, ENCODED=encoded)
        if args["file"]:
            (context.directory / args["file"]).write_text(text)
        if args["seconds"]:
            _sleep(args["seconds"], context)
        if args["fails"]:
            raise PerfError(text)
        return VerbResult(values={"text": text})


def _sleep(seconds: float, context: VerbContext) -> None:
    with subprocess.Popen(["sleep", str(seconds)], preexec_fn=die_with_parent) as program:
        try:
            while program.poll() is None:
                context.check_interrupted()
                time.sleep(0.05)
        finally:
            program.kill()
