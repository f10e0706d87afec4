"""Calls of verbs in this process, on a cluster with a kubeconfig."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible_collections.psap.perf.plugins.module_utils.secrets.leaks import Redactor
from ansible_collections.psap.perf.plugins.plugin_utils.verb import OPENED, PerfAction, VerbContext, VerbResult

_ROLE = "tests_command"


@dataclass(frozen=True)
class Verbs:
    """Call verbs inside one command, as its tasks do.

    Attributes:
        kubeconfig: Kubeconfig of the cluster.
        directory: Directory of the command, and of its run.
    """

    kubeconfig: Path
    directory: Path

    def __call__(self, verb: str, **arguments: Any) -> VerbResult:
        """Call a verb.

        Args:
            verb: Name without the collection, such as ``apply``.
            **arguments: Arguments of the task.

        Returns:
            The verb's result.

        Raises:
            PerfError: If the verb fails.
        """
        return self._call(verb, arguments, check_mode=False)

    def check(self, verb: str, **arguments: Any) -> VerbResult:
        """Call a verb in check mode, otherwise as `__call__` does."""
        return self._call(verb, arguments, check_mode=True)

    def _call(self, verb: str, arguments: dict[str, Any], *, check_mode: bool) -> VerbResult:
        action = import_module(f"ansible_collections.psap.perf.plugins.action.{verb}").ActionModule
        validated = ArgumentSpecValidator(dict(action.ARGUMENTS)).validate(arguments)
        assert not validated.error_messages, validated.error_messages
        context = self._context(validated.validated_parameters, check_mode)
        for folder in ("src", "artifacts"):
            (self.directory / folder).mkdir(exist_ok=True)
        called: PerfAction = object.__new__(action)
        try:
            return called.perform(context)
        finally:
            context.close()

    def _context(self, arguments: Mapping[str, Any], check_mode: bool) -> VerbContext:
        return VerbContext(
            args=arguments,
            check_mode=check_mode,
            diff_mode=True,
            host="localhost",
            roles=(_ROLE,),
            variables={
                "perf_kubeconfig": str(self.kubeconfig),
                OPENED: {"directories": {_ROLE: str(self.directory)}},
            },
            run="tests-1",
            run_directory=self.directory,
            interrupted=threading.Event(),
            finalizing=False,
            redactor=Redactor([]),
        )
