"""The text that `kubectl logs` shows for a simulated pod."""

from __future__ import annotations

from typing import Any

import pytest
from perflab.kubelet.container_logs import has_ended, render_log

STARTED = "2026-01-01T10:00:00Z"


def pod(log: str | None, state: dict[str, Any] | None = None) -> dict[str, Any]:
    annotations = {} if log is None else {"lab.psap.perf/log": log}
    status = {"name": "main", "state": state or {"running": {"startedAt": STARTED}}}
    return {
        "metadata": {"name": "p", "namespace": "n", "annotations": annotations},
        "status": {"containerStatuses": [status]},
    }


def test_annotation_is_the_log() -> None:
    assert render_log(pod("one\ntwo"), "main", {}) == "one\ntwo\n"


def test_log_without_annotation_states_that_nothing_ran() -> None:
    assert "n/p is simulated" in render_log(pod(None), "main", {})


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ({"tailLines": "1"}, "two\n"),
        ({"tailLines": "9"}, "one\ntwo\n"),
        ({"tailLines": "0"}, ""),
        ({"limitBytes": "5"}, "one\nt"),
        ({"timestamps": "true"}, f"{STARTED} one\n{STARTED} two\n"),
        ({"sinceTime": "2026-01-01T10:00:00Z"}, "one\ntwo\n"),
        ({"sinceTime": "2026-01-01T10:00:01Z"}, ""),
        ({"sinceSeconds": "1"}, ""),
    ],
)
def test_options_of_kubectl_logs_select_lines(query: dict[str, str], text: str) -> None:
    assert render_log(pod("one\ntwo"), "main", query) == text


def test_container_not_started_has_no_log() -> None:
    waiting = {"metadata": {"name": "p", "namespace": "n"}, "status": {"phase": "Pending"}}
    with pytest.raises(ValueError, match="waiting to start"):
        render_log(waiting, "main", {})


def test_container_without_image_has_no_log() -> None:
    with pytest.raises(ValueError, match="waiting to start: ErrImagePull"):
        render_log(pod("one", {"waiting": {"reason": "ErrImagePull"}}), "main", {})


def test_unknown_container_has_no_log() -> None:
    with pytest.raises(ValueError, match="sidecar"):
        render_log(pod("one"), "sidecar", {})


def test_log_ends_with_its_container() -> None:
    assert not has_ended(pod("one"), "main")
    assert has_ended(pod("one", {"terminated": {"startedAt": STARTED}}), "main")
