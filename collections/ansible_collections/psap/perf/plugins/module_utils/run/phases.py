"""Names that a driver and the playbooks share: the tags of a flow's plays, and the playbook of a single command."""

from __future__ import annotations

CLEANUP_BEFORE, PREPARE, TEST, CLEANUP, CONCLUDE = "cleanup_before", "prepare", "test", "cleanup", "conclude"
TOOLBOX_FLOW = "toolbox"
