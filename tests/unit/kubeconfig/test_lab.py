"""The parts of a lab in recordings."""

from __future__ import annotations

from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.lab import lab_of


def test_recording_of_a_real_server_has_no_simulated_parts() -> None:
    lab = lab_of({"name": "default", "real": "control plane,worker", "emulated": "volumes", "simulated": "nodes,pods"})
    assert lab is not None
    assert lab.serving(is_real=False) == lab
    shown = {"name": "default", "real": ["model server on a CPU"], "emulated": [], "simulated": []}
    assert lab.serving(is_real=True).document() == shown
