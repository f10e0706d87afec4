"""A kubeconfig whose credential plugin hangs: Ctrl-C stops the run and the plugin."""

from __future__ import annotations

import signal
from pathlib import Path

import yaml

from tests.integration.conftest import PROJECT
from tests.polling import wait_until

from .conftest import Driver, WaitGone


def kubeconfig(folder: Path) -> Path:
    """Write a kubeconfig whose plugin writes a file and never ends."""
    program = folder / "plugin-that-hangs"
    program.write_text('#!/bin/sh\ntouch "$(dirname "$0")/called"\nsleep 600\n', encoding="utf-8")
    program.chmod(0o700)
    plugin = {"apiVersion": "client.authentication.k8s.io/v1", "command": str(program)}
    document = {
        "current-context": "x",
        "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}],
        "users": [{"name": "u", "user": {"exec": plugin}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
    }
    path = folder / "kubeconfig"
    path.write_text(yaml.safe_dump(document), encoding="utf-8")
    return path


def test_ctrl_c_stops_a_run_whose_credential_plugin_hangs(tmp_path: Path, driver: Driver, wait_gone: WaitGone) -> None:
    driver.project, driver.variables = PROJECT, {"KUBECONFIG": str(kubeconfig(tmp_path))}
    process = driver.start("run", "scale_test", "--site", "local")
    wait_until((tmp_path / "called").exists, during=process)
    process.send_signal(signal.SIGINT)
    ended = driver.end(process)
    # after the plugin's time limit the exit code would be 3: cluster unreachable
    assert ended.code == 130, ended.out + ended.err
    wait_gone("plugin-that-hangs")
