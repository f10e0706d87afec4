"""The verb measured: whether a run has anything to measure, decided once for all attempts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError, UsageError
from perfanalysis.results.history.folder import add, load

from tests.unit.perfci.judging.conftest import Night, change_run, set_up
from tests.unit.plugins.verbs import Verbs

NOWHERE = "http://127.0.0.1:9"


@pytest.fixture(name="run")
def _run(night: Night) -> Path:
    return change_run(night(2), tags={"run": [], "skip": []}, rhoai={"generation": 3, "version": "3.4.1"})


def decide(run: Path, *facts: str) -> dict[str, Any]:
    """Call the verb, and record its facts as the callback does."""
    values = Verbs(run / "kubeconfig", run)("measured", facts=list(facts)).values
    change_run(run, **values.get("run_facts", {}))
    return dict(values)


def test_known_settings_are_decided_once(run: Path) -> None:
    decided = decide(run, "scale_test_rate")
    assert decided["known"]
    assert decided["why"] == "nothing is new: night-001 of the history measured setting.scale_test_rate 40"
    # a later attempt keeps the decision, whatever the history has then
    for path in (run.parent.parent / "history").iterdir():
        path.unlink()
    assert decide(run, "scale_test_rate")["known"]
    assert json.loads((run / "run.json").read_text())["only_if_new"]["measured_by"] == "night-001"


def test_run_that_measures_continues_if_another_is_first(night: Night) -> None:
    run = change_run(night(2), tags={"run": [], "skip": []})
    set_up(run, scale_test_rate=41)
    assert not decide(run, "scale_test_rate")["known"]
    folder = run.parent.parent / "history"
    (document, *_others) = load(folder).documents
    document["facts"]["setting.scale_test_rate"] = 41
    add(folder, document)
    assert not decide(run, "scale_test_rate")["known"]
    # its concurrent cells are processes with a run.json below its own, and inherit its decision
    cell = run / "002__cell__0"
    cell.mkdir()
    (cell / "run.json").write_text(json.dumps({"tags": {"run": ["test"]}, "parent": run.name}))
    (cell / "settings.yml").write_text((run / "settings.yml").read_text())
    assert not decide(cell, "scale_test_rate")["known"]
    # without a decision, the same settings are known
    assert decide(change_run(run, only_if_new=None), "scale_test_rate")["known"]


def test_new_release_is_measured(run: Path) -> None:
    decided = decide(run, "rhoai", "scale_test_rate")
    assert not decided["known"]
    assert decided["why"] == "the history has no run with rhoai.version 3.4.1, setting.scale_test_rate 40"


@pytest.mark.parametrize(("tags", "known"), [(["cleanup"], False), (["test"], True), ([], True)])
def test_run_that_only_cleans_up_always_does(run: Path, tags: list[str], known: bool) -> None:
    change_run(run, tags={"run": tags, "skip": []})
    assert decide(run, "scale_test_rate")["known"] is known


def test_without_facts_nothing_is_decided(run: Path) -> None:
    assert decide(run) == {"known": False, "why": ""}


def test_unreachable_history_measures_unless_it_is_required(run: Path) -> None:
    set_up(run, history_source=NOWHERE)
    decided = decide(run, "scale_test_rate")
    assert not decided["known"]
    assert decided["why"].startswith("cannot read the history, so the run measures: cannot connect to")
    change_run(set_up(run, history_required=True), only_if_new=None)
    with pytest.raises(PerfError, match="cannot connect to") as raised:
        decide(run, "scale_test_rate")
    assert raised.value.exit_code == 3


def test_unknown_fact_is_refused_with_the_nearest_name(run: Path) -> None:
    with pytest.raises(UsageError, match="has no fact scale_test_rat; did you mean scale_test_rate"):
        decide(run, "scale_test_rat")
