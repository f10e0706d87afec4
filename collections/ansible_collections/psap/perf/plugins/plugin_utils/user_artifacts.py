"""Fetch the artifacts of users from the second container of their pods, or from the bucket if a pod is gone."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, PerfError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.pod_exec import run_in_pod
from ansible_collections.psap.perf.plugins.module_utils.users.accounts import UserState
from ansible_collections.psap.perf.plugins.module_utils.users.archives import unpack
from ansible_collections.psap.perf.plugins.module_utils.users.bucket import fetch_files, opened_bucket, sent_files
from ansible_collections.psap.perf.plugins.module_utils.users.plan import ExportPlan
from ansible_collections.psap.perf.plugins.module_utils.waiting.polling import pass_time
from ansible_collections.psap.perf.plugins.plugin_utils.verb import VerbContext

_CONTAINER = "artifacts"
_PROGRAMS = {"export": ("export.py",), "send": ("user.py", "send"), "release": ("user.py", "release")}
_CONNECTIONS = 8
_TRIES = 3
_PAUSE_S = 2.0


class UserArtifacts:
    """Has the pods of users export their files, fetches these into a folder, and lets the pods end.

    Attributes:
        folders: The folder of each user with files, relative to the folder.
        problems: Why files of a user could not be exported or fetched, by its index.
    """

    def __init__(
        self, context: VerbContext, namespace: str, folder: Path, *, export: ExportPlan | None, retrieve: bool
    ) -> None:
        self._context = context
        self._namespace = namespace
        self._folder = folder
        self._retrieve = retrieve
        self._export = export
        self.folders: dict[int, str] = {}
        self.problems: dict[int, str] = {}

    def fetch(self, states: Sequence[UserState]) -> None:
        """Fetch the files of *states*, several at a time."""
        with ThreadPoolExecutor(_CONNECTIONS, thread_name_prefix="artifacts") as pool:
            problems = zip(states, pool.map(self._fetch_one, states), strict=True)
            self.problems |= {state.index: problem for state, problem in problems if problem}

    def fetch_gone(self, indices: Sequence[int]) -> None:
        """Fetch the files of users whose pods are gone from the bucket; without one, the files are lost."""
        self.problems |= dict.fromkeys(indices, "the container that keeps them did not run")
        if not (indices and self._export):
            return
        try:
            with opened_bucket(self._context.cluster(), self._namespace, self._export) as bucket:
                for index in indices:
                    self._context.check_interrupted()
                    sent = sent_files(bucket, self._export, index)
                    if sent and self._retrieve:
                        self.folders[index] = f"user-{index}"
                        fetch_files(bucket, sent, self._folder / self.folders[index])
                    if sent:
                        del self.problems[index]
        except PerfError as error:
            reason = f"the pod is gone, and its files cannot be fetched from {self._export.bucket}: {error}"
            self.problems |= {index: reason for index in indices if index not in self.folders}

    def _fetch_one(self, state: UserState) -> str:
        """Fetch the files of one user; return why this failed, or an empty string."""
        name = f"user-{state.index}"
        pod = str((state.pod or {})["metadata"]["name"])
        problem = ""
        for _try in range(_TRIES):
            try:
                if self._export:
                    self._execute(pod, "export", BytesIO())
                if self._retrieve and state.index not in self.folders and self._unpack(pod, self._folder / name):
                    self.folders[state.index] = name
            except ClusterError as error:
                problem = str(error)
                pass_time(_PAUSE_S, self._context.check_interrupted)
            else:
                # the container may end before it answers; a pod that is not released ends with its Job
                with contextlib.suppress(ClusterError):
                    self._execute(pod, "release", BytesIO())
                return ""
        return problem

    def _unpack(self, pod: str, folder: Path) -> int:
        with tempfile.TemporaryFile() as stream:
            self._execute(pod, "send", stream)
            stream.seek(0)
            return unpack(stream, folder)

    def _execute(self, pod: str, task: str, output: BinaryIO) -> None:
        where = (self._namespace, pod, _CONTAINER)
        program, *words = _PROGRAMS[task]
        command = ["python3", "-B", f"/mnt/plan/{program}", *words]
        done = run_in_pod(self._context.cluster().access, where, command, output, self._context.check_interrupted)
        if done.exit_code:
            raise ClusterError(f"{task} in pod {pod} ended with exit code {done.exit_code}: {done.errors}")
