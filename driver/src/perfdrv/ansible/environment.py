"""The environment that Ansible gets: what is on the list, and nothing else of the user's."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

RUN_DIRECTORY = "PERF_RUN_DIR"

_USER = "HOME LANG LOGNAME PATH SSH_AUTH_SOCK TERM TMPDIR TZ USER"
_PROXIES = "HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy"
ALLOWED = frozenset(f"{_USER} {_PROXIES} KUBECONFIG PERFLAB_HOME".split())
ALLOWED_PREFIXES = ("PERF_", "XDG_", "LC_", "K8S_AUTH_")
# what one Ansible hands to its workers is not meant for another one, should a run start a run
OF_ANOTHER_RUN = ("PERF_RUN_", "PERF_PROJECT_DIR", "PERF_INVENTORY_SOURCES")


def clean_environment(project: Path, run_directory: Path, given: Mapping[str, str] | None = None) -> dict[str, str]:
    """The variables for one run of Ansible.

    Args:
        project: root of the project, whose ansible.cfg is used whatever the working directory is.
        run_directory: where the collection's callback writes the run.
        given: the environment to choose from; this process's own by default.
    """
    source = os.environ if given is None else given
    kept = {name: value for name, value in source.items() if is_allowed(name)}
    # ansible-playbook of the Python that runs the driver, also when its virtual environment is not activated
    programs = str(Path(sys.executable).parent)
    return kept | {
        "PATH": f"{programs}{os.pathsep}{kept.get('PATH', os.defpath)}",
        "ANSIBLE_CONFIG": str(project / "ansible.cfg"),
        "ANSIBLE_NOCOLOR": "1",
        # a module goes through a pipe; a file with its arguments would be left behind where Ansible is killed
        "ANSIBLE_PIPELINING": "1",
        RUN_DIRECTORY: str(run_directory),
    }


def is_allowed(name: str) -> bool:
    """Whether Ansible gets this variable of the user."""
    return name in ALLOWED or (name.startswith(ALLOWED_PREFIXES) and not name.startswith(OF_ANOTHER_RUN))
