"""Builds of OpenShift, on an API server in memory."""

from __future__ import annotations

import asyncio
from pathlib import Path

from .memory_api import MemoryApi, found, settle, with_kind

CONFIGS = "/apis/build.openshift.io/v1/namespaces/team/buildconfigs"
BUILDS = "/apis/build.openshift.io/v1/namespaces/team/builds"
STREAMS = "/apis/image.openshift.io/v1/namespaces/team/imagestreams"


def cluster(*triggers: str) -> MemoryApi:
    api = MemoryApi()
    for kind in ("buildconfigs.build", "builds.build", "imagestreams.image"):
        with_kind(api, f"{kind}.openshift.io/v1")
    output = {"to": {"kind": "ImageStreamTag", "name": "tool:v1"}}
    spec = {
        "source": {"type": "Dockerfile", "dockerfile": "FROM base"},
        "strategy": {"type": "Docker", "dockerStrategy": {}},
        "output": output,
        "triggers": [{"type": trigger} for trigger in triggers],
    }
    api.put(CONFIGS, {"metadata": {"name": "tool", "labels": {"of": "us"}}, "spec": spec})
    api.put(STREAMS, {"metadata": {"name": "tool"}, "spec": {}})
    return api


def test_build_follows_its_config_and_tags_its_image(tmp_path: Path) -> None:
    api = cluster("ConfigChange")
    asyncio.run(settle(api, "builds", tmp_path))
    build = found(api, f"{BUILDS}/tool-1")
    assert (build["status"]["phase"], build["metadata"]["labels"]["of"]) == ("Complete", "us")
    assert build["metadata"]["labels"]["buildconfig"] == "tool"
    assert found(api, "/api/v1/namespaces/team/pods/tool-1-build")
    (tag,) = found(api, f"{STREAMS}/tool")["status"]["tags"]
    assert tag["tag"] == "v1"


def test_build_config_without_a_trigger_builds_nothing(tmp_path: Path) -> None:
    api = cluster()
    asyncio.run(settle(api, "builds", tmp_path))
    assert api.find(f"{BUILDS}/tool-1") is None


def test_failed_build_has_its_log_end_and_no_tag(tmp_path: Path) -> None:
    api = cluster("ConfigChange")
    data = {"builds.build": "fail: no package git"}
    api.put("/api/v1/namespaces/kube-system/configmaps", {"metadata": {"name": "perflab-steps"}, "data": data})
    asyncio.run(settle(api, "builds", tmp_path))
    status = found(api, f"{BUILDS}/tool-1")["status"]
    assert (status["phase"], status["reason"]) == ("Failed", "DockerBuildFailed")
    assert status["logSnippet"] == "error: build error: no package git"
    assert "status" not in found(api, f"{STREAMS}/tool")
