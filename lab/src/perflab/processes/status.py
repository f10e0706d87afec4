"""The state of a lab, as `perflab status` reports it."""

from __future__ import annotations

from typing import Any

from perflab.processes.state import Lab, is_locked
from perflab.profiles import KUBERNETES


def report(each: Lab) -> dict[str, Any]:
    """Return the lab's document with its present state, dead programs and paths."""
    dead = each.dead_components()
    document = {**each.document(), "state": _state(each, dead)}
    return {**document, "dead": dead, "folder": str(each.folder), "kubeconfig": str(each.kubeconfig)}


def _state(each: Lab, dead: list[str]) -> str:
    if each.state == "running" and dead:
        return "crashed"
    if each.state == "starting" and not is_locked(each.folder.parent, each.name):
        # the process that started it was killed
        return "interrupted"
    return each.state


def sentence(each: Lab) -> str:
    """Return the same for people, in one line."""
    found = report(each)
    size = f"{each.options.nodes} nodes of {each.options.gpus_per_node} GPUs"
    died = f", {', '.join(found['dead'])} died" if found["dead"] else ""
    emulates = f", emulates {', '.join(each.options.emulate)}" if each.options.emulate else ""
    profile = f", profile {each.options.profile}" if each.options.profile != KUBERNETES else ""
    offered = ", by dynamic resource allocation" if each.options.dra else ""
    runs = f", with {', '.join(each.options.products)}" if each.options.products else ""
    absent = f", without root (absent: {', '.join(each.absent)})" if each.absent else ""
    what = f"{size}{offered}{profile}{runs}{absent}{emulates}"
    return f"{each.name}: {found['state']}{died}, {what}, since {each.started}, {each.server}"
