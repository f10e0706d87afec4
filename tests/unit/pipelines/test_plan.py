"""The application, the API, the image and the names of runs, and the users of the flow."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.pipelines.lanes import pipelines_plan
from ansible_collections.psap.perf.plugins.module_utils.pipelines.plan import (
    api_url,
    application_name,
    notebook_image,
    run_names,
)

SERVICE = {"spec": {"ports": [{"port": 8443}, {"port": 8888}]}}


def named(*names: str) -> list[dict[str, Any]]:
    return [{"metadata": {"name": name}} for name in names]


def stream(*tags: str) -> dict[str, Any]:
    return {"status": {"tags": [{"tag": tag, "items": [{"dockerImageReference": f"image:{tag}"}]} for tag in tags]}}


@pytest.mark.parametrize(("wanted", "found"), [("", "a"), ("b", "b")])
def test_application_is_the_named_or_the_first(wanted: str, found: str) -> None:
    assert application_name(named("b", "a"), wanted, "n0") == found


def test_missing_application_is_refused_with_the_existing_ones() -> None:
    with pytest.raises(ClusterError, match="n0/c does not exist; the namespace has a, b"):
        application_name(named("b", "a"), "c", "n0")
    with pytest.raises(ClusterError, match="deploy one"):
        application_name([], "", "n0")


def test_api_is_that_of_the_route_or_the_service() -> None:
    route = {"spec": {"host": "dsp.example.org", "tls": {}}}
    secured = {"spec": {"host": "dsp.example.org", "tls": {"termination": "reencrypt"}}}
    assert api_url("a", "n0", route, SERVICE) == "http://dsp.example.org"
    assert api_url("a", "n0", secured, SERVICE) == "https://dsp.example.org"
    assert api_url("a", "n0", None, SERVICE) == "http://ds-pipeline-a.n0.svc.cluster.local:8888"
    with pytest.raises(ClusterError, match="neither Route nor Service ds-pipeline-a"):
        api_url("a", "n0", None, None)


@pytest.mark.parametrize(
    ("tags", "highest"), [(("1.9", "1.10", "1.2"), "1.10"), (("2024.2", "2025.1"), "2025.1"), (("v3", "v12"), "v12")]
)
def test_unset_tag_is_the_highest(tags: tuple[str, ...], highest: str) -> None:
    assert notebook_image(stream(*tags), "s", "") == f"image:{highest}"


def test_missing_tag_is_refused() -> None:
    assert notebook_image(stream("1", "2"), "s", "1") == "image:1"
    with pytest.raises(ClusterError, match="has no tag 3; it has 1, 2"):
        notebook_image(stream("1", "2"), "s", "3")
    with pytest.raises(ClusterError, match="no imported tag"):
        notebook_image({}, "s", "")
    with pytest.raises(ClusterError, match="does not exist"):
        notebook_image(None, "s", "")


def test_names_of_runs_continue_and_are_unique() -> None:
    assert run_names("user0-p1", "abc", 4, 2) == ("user0-p1-abc-run4", "user0-p1-abc-run5")
    with pytest.raises(UsageError, match="invalid notebook_name"):
        run_names("", "abc", 1, 1)


SETTINGS = {
    "pipelines_users": 5,
    "pipelines_projects": 2,
    "pipelines_per_user": 2,
    "pipelines_runs": 3,
    "pipelines_namespace": "test",
}


def test_users_have_projects_by_modulo() -> None:
    plan = pipelines_plan(SETTINGS, 1, 5)
    assert plan.namespaces == ("test-n0", "test-n1")
    assert plan.projects == {"u0": "test-n0", "u1": "test-n1", "u2": "test-n0", "u3": "test-n1", "u4": "test-n0"}
    assert (plan.lanes, plan.runs_per_user) == ({"user": ["u0", "u1", "u2", "u3", "u4"]}, 6)


@pytest.mark.parametrize(("cells", "forks", "message"), [(2, 9, "one cell"), (1, 4, "ANSIBLE_FORKS")])
def test_several_cells_and_too_few_forks_are_refused(cells: int, forks: int, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        pipelines_plan(SETTINGS, cells, forks)
