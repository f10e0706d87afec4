"""The environment that Ansible gets: what is on the list, and nothing else of the user's."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

RUN_DIRECTORY = "PERF_RUN_DIR"

_USER = "HOME LOGNAME PATH SSH_AUTH_SOCK TERM TMPDIR TZ USER"
_PROXIES = "HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy"
ALLOWED = frozenset(f"{_USER} {_PROXIES} KUBECONFIG PERFLAB_HOME".split())
ALLOWED_PREFIXES = ("PERF_", "XDG_", "K8S_AUTH_")
# what one Ansible hands to its workers is not meant for another one, should a run start a run
OF_ANOTHER_RUN = ("PERF_RUN_", "PERF_PROJECT_DIR", "PERF_INVENTORY_SOURCES")
_REFERENCE = re.compile(r"\benv:([A-Za-z_]\w*)")
# as `json_vars` writes it
_REPLAYED = re.compile(r'"perf_replay": "([^"]+)"')
_SETTINGS = ("group_vars", "host_vars", "playbooks", "presets")


def clean_environment(
    project: Path, run_directory: Path, given: Mapping[str, str] | None = None, secrets: Iterable[str] = ()
) -> dict[str, str]:
    """The variables for one run of Ansible.

    Args:
        project: root of the project, whose ansible.cfg is used whatever the working directory is.
        run_directory: where the collection's callback writes the run.
        given: the environment to choose from; this process's own by default.
        secrets: names of further variables, to which settings refer.
    """
    source = os.environ if given is None else given
    wanted = {name for name in secrets if not name.startswith(OF_ANOTHER_RUN)}
    kept = {name: value for name, value in source.items() if name in wanted or is_allowed(name)}
    # ansible-playbook of the Python that runs the driver, also when its virtual environment is not activated
    programs = str(Path(sys.executable).parent)
    return kept | {
        "PATH": f"{programs}{os.pathsep}{kept.get('PATH', os.defpath)}",
        # Ansible starts in no locale but one of UTF-8 that the machine has, and the user's may be another
        "LC_ALL": "C.UTF-8",
        "ANSIBLE_CONFIG": str(project / "ansible.cfg"),
        "ANSIBLE_NOCOLOR": "1",
        # a module goes through a pipe; a file with its arguments would be left behind where Ansible is killed
        "ANSIBLE_PIPELINING": "1",
        RUN_DIRECTORY: str(run_directory),
    }


def secrets_referred_to(project: Path, inventory: Path | None, extra_vars: Iterable[str]) -> frozenset[str]:
    """Names of the variables that settings mention as ``env:NAME``: a project's, a site's, a command line's, a run's.

    The run is the one that ``perf_replay`` names, whose settings are taken again.
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
    """What stands in a file; what cannot be read is Ansible's to refuse."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def is_allowed(name: str) -> bool:
    """Whether Ansible gets this variable of the user."""
    return name in ALLOWED or (name.startswith(ALLOWED_PREFIXES) and not name.startswith(OF_ANOTHER_RUN))
