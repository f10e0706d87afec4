"""A job as AWX 24.6.1 starts it, by ansible-runner: its folders, variables, inventory and environment, without AWX.

In AWX's container its files are below ``/runner``; here below a folder of the test. The container ends with the job in
every case: its processes are killed and its files deleted.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

HOST = "https://awx.example.com"
COMMIT = "5ca1ab1e" * 5
INVENTORY = "psap.perf local"
_PROGRAMS = Path(sys.executable).parent
_LOOK_EVERY_S = 0.2
_COPIED = (
    "ansible.cfg", "analysis", "collections", "driver", "group_vars", "inventories", "lab", "playbooks", "presets",
)  # fmt: skip
# AWX's variables that override ansible.cfg; those of callbacks are set by ansible-runner
_ENVIRONMENT = {
    "ANSIBLE_FORCE_COLOR": "True",
    "ANSIBLE_HOST_KEY_CHECKING": "False",
    "ANSIBLE_INVENTORY_UNPARSED_FAILED": "True",
    "ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED": "True",
    "ANSIBLE_PARAMIKO_RECORD_HOST_KEYS": "False",
    "ANSIBLE_RETRY_FILES_ENABLED": "False",
    "PROJECT_REVISION": COMMIT,
    "AWX_HOST": HOST,
    "INVENTORY_ID": "1",
    # beside ansible-runner's own; it writes to the stdout of workers as the callback of ansible-runner 2.4.0 does
    "ANSIBLE_CALLBACK_PLUGINS": str(Path(__file__).parent / "callbacks"),
}


class _Unsafe(str):
    """A text that AWX marks, so that Ansible does not template it."""

    __slots__ = ()


class _Dumper(yaml.SafeDumper):
    """Writes marked texts as ``!unsafe``."""


_Dumper.add_representer(_Unsafe, lambda dumper, text: dumper.represent_scalar("!unsafe", str(text)))


def _unsafe(value: Any) -> Any:
    if isinstance(value, str):
        return _Unsafe(value)
    if isinstance(value, Mapping):
        return {_unsafe(key): _unsafe(item) for key, item in value.items()}
    return [_unsafe(item) for item in value] if isinstance(value, list) else value


def extra_vars_file(given: Mapping[str, Any], template: Mapping[str, Any], about: Mapping[str, Any]) -> str:
    """Return ``env/extravars``: launch values are marked, and only the *template*'s own values may be templates.

    *about* are AWX's variables about the job, which get two prefixes.
    """
    own = {f"{prefix}_{name}": value for prefix in ("awx", "tower") for name, value in about.items()}
    marked = {**own, **{name: value for name, value in given.items() if template.get(name) != value}}
    trusted = {name: value for name, value in template.items() if name not in marked}
    return yaml.dump(_unsafe(marked), Dumper=_Dumper) + (yaml.safe_dump(trusted) if trusted else "")


def inventory_script(inventory: Mapping[str, Any]) -> str:
    """Return ``inventory/hosts``: a program that prints it, with the variables that AWX adds to each host."""
    document = json.loads(json.dumps(inventory))
    members = {host for group in document.values() for host in group.get("hosts", ())}
    variables = document.setdefault("_meta", {}).setdefault("hostvars", {})
    for number, host in enumerate(sorted(members), 1):
        variables.setdefault(host, {}).update(remote_tower_enabled="true", remote_tower_id=number)
    return f"#! /usr/bin/env python3\n# -*- coding: utf-8 -*-\nprint(r'''{json.dumps(document)}''')\n"


@dataclass(frozen=True)
class Job:
    """A job that has ended.

    Attributes:
        code: the exit code; -9 for a job that was cancelled or reached its time limit.
        artifacts: the values of ``set_stats``, as AWX reads them from the job's events at the end of Ansible.
    """

    code: int
    text: str
    artifacts: dict[str, Any]


class Runner:
    """Runs jobs of one project, each in a separate copy."""

    def __init__(self, folder: Path, project: Path) -> None:
        self.folder, self._project, self._number = folder, project, 0

    def synced_inventory(self, site: str) -> dict[str, Any]:
        """Return the result of updating an inventory source of kind scm: Ansible's own export, from a copy."""
        copy = self._copy(self.folder / "sync")
        done = subprocess.run(
            [str(_PROGRAMS / "ansible-inventory"), "--list", "--export", "-i", f"inventories/{site}/hosts.yml",
             "--playbook-dir", f"inventories/{site}"],
            cwd=copy, env=self._base({}), capture_output=True, text=True, check=True,
        )  # fmt: skip
        document: dict[str, Any] = json.loads(done.stdout)
        document["_meta"].pop("profile", None)
        shutil.rmtree(copy)
        return document

    def run(
        self,
        playbook: str,
        inventory: Mapping[str, Any],
        given: Mapping[str, Any],
        *,
        template: Mapping[str, Any] | None = None,
        tags: str = "",
        credentials: Mapping[str, str] | None = None,
        workflow: int | None = None,
        cancel: Callable[[], bool] | None = None,
    ) -> Job:
        """Run a playbook.

        Args:
            workflow: the ID of the job's workflow job.
            cancel: returns whether to cancel the job now.
            given: answers, launch variables, artifacts of ancestors, and variables of credentials.
            template: the template's own extra variables.
            credentials: the variables of the environment from injectors.
        """
        self._number += 1
        private = self.folder / f"job-{self._number}"
        self._copy(private / "project")
        (private / "env").mkdir()
        (private / "inventory").mkdir()
        variables = extra_vars_file({**(template or {}), **given}, template or {}, self._about(workflow))
        (private / "env" / "extravars").write_text(variables)
        # relative to the working directory, because AWX repeats the value of ansible.cfg
        roots = f"{private}/requirements_collections:collections:~/.ansible/collections:/usr/share/ansible/collections"
        environment = {
            **_ENVIRONMENT, "ANSIBLE_COLLECTIONS_PATH": roots, "JOB_ID": str(self._number),
            "AWX_PRIVATE_DATA_DIR": str(private),
        }  # fmt: skip
        (private / "env" / "envvars").write_text(yaml.safe_dump({**environment, **(credentials or {})}))
        script = private / "inventory" / "hosts"
        script.write_text(inventory_script(inventory))
        script.chmod(0o700)
        words = ["-u root", *([f"-t {tags}"] if tags else [])]
        started = subprocess.Popen(
            [str(_PROGRAMS / "ansible-runner"), "run", str(private), "-p", playbook, "--ident", "job",
             "--inventory", str(private / "inventory"), "--cmdline", " ".join(words)],
            env=self._base(credentials or {}), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        while cancel is not None and started.poll() is None:
            if cancel():
                _end_container(private)
                break
            time.sleep(_LOOK_EVERY_S)
        text, _none = started.communicate()
        job = Job(started.returncode, text, _artifacts(private / "artifacts" / "job"))
        # AWX deletes the folder with every file that the job wrote
        shutil.rmtree(private)
        return job

    def _about(self, workflow: int | None) -> dict[str, Any]:
        """Return the variables that AWX adds to each job, without a prefix."""
        of_workflow = {
            "workflow_job_id": workflow,
            "workflow_job_name": "psap.perf",
            "workflow_job_launch_type": "manual",
        }
        return {
            "job_id": self._number,
            "job_launch_type": "manual" if workflow is None else "workflow",
            "job_template_name": "psap.perf",
            "user_name": "admin",
            "inventory_id": 1,
            "inventory_name": INVENTORY,
            "project_revision": COMMIT,
            "project_scm_branch": "main",
            **({} if workflow is None else of_workflow),
        }

    def _copy(self, to: Path) -> Path:
        to.mkdir(parents=True)
        for name in _COPIED:
            source = self._project / name
            if source.is_dir():
                skipped = shutil.ignore_patterns("__pycache__", "node_modules")
                shutil.copytree(source, to / name, symlinks=True, ignore=skipped)
            elif source.exists():
                shutil.copy(source, to / name)
        return to

    def _base(self, credentials: Mapping[str, str]) -> dict[str, str]:
        """Return the environment of an execution environment: only a path and a home."""
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        path = f"{_PROGRAMS}:{os.environ['PATH']}"
        return {"PATH": path, "HOME": str(home), "LC_ALL": "C.UTF-8", **credentials}


def _end_container(private: Path) -> None:
    """Kill the processes of a job together, as the end of its container does."""
    mark = os.fsencode(private)
    while found := [pid for pid in _processes() if mark in _command_and_environment(pid)]:
        for pid in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(_LOOK_EVERY_S)


def _processes() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def _command_and_environment(pid: int) -> bytes:
    """Return the command line and the environment of a process; empty if it has ended."""
    try:
        if b") Z " in Path(f"/proc/{pid}/stat").read_bytes():
            return b""
        return b"".join(Path(f"/proc/{pid}/{name}").read_bytes() for name in ("cmdline", "environ"))
    except OSError:
        return b""


def _artifacts(folder: Path) -> dict[str, Any]:
    for path in (folder / "job_events").glob("*.json"):
        event = json.loads(path.read_text())
        if event.get("event") == "playbook_on_stats":
            found: dict[str, Any] = event["event_data"].get("artifact_data") or {}
            return found
    return {}
