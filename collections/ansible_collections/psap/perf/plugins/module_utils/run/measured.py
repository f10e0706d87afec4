"""Connects the verb measured to the package perfci, which is imported only if a run measures only new versions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.documents import read_json
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError, error_for_exit_code
from ansible_collections.psap.perf.plugins.module_utils.run.directory import RUN_FILE
from ansible_collections.psap.perf.plugins.module_utils.run.phases import PREPARE, TEST
from ansible_collections.psap.perf.plugins.module_utils.settings.static import values_of_run

# field of run.json with the decision
FACT = "only_if_new"
_MODULE = "perfci.judging.measured"


def only_cleans_up(run: Mapping[str, Any]) -> bool:
    """Return whether the tags of a run, by its ``run.json``, select neither its preparation nor its test."""
    tags = (run.get("tags") or {}).get("run") or ()
    return bool(tags) and {PREPARE, TEST, "all"}.isdisjoint(tags)


def decision_of(directory: Path, names: Sequence[str]) -> Mapping[str, Any]:
    """Return the decision of the entire run, made once: by an earlier attempt, or before the process of this cell.

    Another run may add the same facts to the history meanwhile; no cell may be left out because of it.

    Raises:
        PerfError: As by `decide`.
    """
    run = read_json(directory / RUN_FILE)
    root = next((each for each in directory.parents if each.name == run.get("parent")), directory)
    decision: Mapping[str, Any] | None = run.get(FACT) or read_json(root / RUN_FILE).get(FACT)
    return decision or decide(directory, names)


def decide(run: Path, names: Sequence[str]) -> dict[str, Any]:
    """Return the field of ``run.json``: the facts, and the earlier run with the same ones or None.

    Raises:
        PerfError: If a name is not a fact, the packages are missing, or a required history cannot be read.
    """
    try:
        finder = import_module(_MODULE)
    except ImportError as error:
        raise UsageError(
            f"run_only_if_new needs the Python package psap-perf where Ansible runs, and it cannot be imported "
            f"({error}): install it into Ansible's environment, or set run_only_if_new to an empty list"
        ) from error
    try:
        answer: dict[str, Any] = finder.find_measured(run, names).document()
    except finder.ERRORS as error:
        code = getattr(error, "exit_code", 1)
        if code == UsageError.exit_code or values_of_run(run).get("history_required"):
            raise error_for_exit_code(code, str(error)) from error
        return {"facts": {}, "measured_by": None, "why": f"cannot read the history, so the run measures: {error}"}
    return answer
