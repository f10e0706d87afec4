"""The environment of Ansible: listed variables of the user, and nothing else."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

RUN_DIRECTORY = "PERF_RUN_DIR"

_USER = "HOME LOGNAME PATH SSH_AUTH_SOCK TERM TMPDIR TZ USER"
_PROXIES = "HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy"
# by which a pod finds its cluster
_POD = "KUBERNETES_SERVICE_HOST KUBERNETES_SERVICE_PORT"
# the pull request under test, as Prow and Jenkins name it
_PULL_REQUEST = "PULL_NUMBER CHANGE_ID"
ALLOWED = frozenset(f"{_USER} {_PROXIES} {_POD} {_PULL_REQUEST} KUBECONFIG PERFLAB_HOME".split())
ALLOWED_PREFIXES = ("PERF_", "XDG_", "K8S_AUTH_")
# variables that one Ansible passes to its workers must not reach a run that a run starts
OF_ANOTHER_RUN = ("PERF_RUN_", "PERF_PROJECT_DIR", "PERF_INVENTORY_SOURCES")
_REFERENCE = re.compile(r"\benv:([A-Za-z_]\w*)")
# as `json_vars` writes it
_REPLAYED = re.compile(r'"perf_replay": "([^"]+)"')
_SETTINGS = ("group_vars", "host_vars", "playbooks", "presets")


def clean_environment(
    project: Path, run_directory: Path, given: Mapping[str, str] | None = None, secrets: Iterable[str] = ()
) -> dict[str, str]:
    """Return the variables for one run of Ansible.

    Args:
        project: Root of the project, whose ansible.cfg is used in any working directory.
        run_directory: The folder into which the collection's callback writes the run.
        given: The environment to choose from; by default this process's environment.
        secrets: Names of more variables, to which settings refer.
    """
    source = os.environ if given is None else given
    wanted = {name for name in secrets if not name.startswith(OF_ANOTHER_RUN)}
    kept = {name: value for name, value in source.items() if name in wanted or is_allowed(name)}
    # the ansible-playbook of this Python, even if its virtual environment is not activated
    programs = str(Path(sys.executable).parent)
    return kept | {
        "PATH": f"{programs}{os.pathsep}{kept.get('PATH', os.defpath)}",
        # Ansible refuses a locale that is not UTF-8 or not installed, and the user's may be one
        "LC_ALL": "C.UTF-8",
        "ANSIBLE_CONFIG": str(project / "ansible.cfg"),
        "ANSIBLE_NOCOLOR": "1",
        # modules are passed through a pipe; a killed Ansible would leave a file with their arguments
        "ANSIBLE_PIPELINING": "1",
        RUN_DIRECTORY: str(run_directory),
    }


def secrets_referred_to(project: Path, inventory: Path | None, extra_vars: Iterable[str]) -> frozenset[str]:
    """Return the names of the variables to which settings refer as ``env:NAME``.

    The settings are those of the project, of the site, of the command line, and of the run in ``perf_replay``.
    """
    texts = list(extra_vars)
    files = [*(project / name for name in _SETTINGS), *([inventory] if inventory is not None else [])]
    if inventory is not None and inventory.is_file():
        files += [inventory.parent / "group_vars", inventory.parent / "host_vars"]
    files += [Path(extra.removeprefix("@")).expanduser() for extra in texts if extra.startswith("@")]
    files += [Path(run) / "settings.yml" for extra in texts for run in _REPLAYED.findall(extra)]
    texts += [_text(path) for each in files for path in _files_of(each)]
    return frozenset(name for text in texts for name in _REFERENCE.findall(text))


def _files_of(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield from [path] if path.is_file() else []
        return
    for folder, _folders, names in os.walk(path):
        yield from (file for file in (Path(folder, name) for name in names) if file.is_file())


def _text(path: Path) -> str:
    """Return the content of a file; empty if it cannot be read, which Ansible then reports."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def is_allowed(name: str) -> bool:
    """Return whether Ansible gets this variable of the user."""
    return name in ALLOWED or (name.startswith(ALLOWED_PREFIXES) and not name.startswith(OF_ANOTHER_RUN))
