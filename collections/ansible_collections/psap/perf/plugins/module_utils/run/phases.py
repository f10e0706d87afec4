"""Names that a driver and the playbooks share: the tags of a flow's plays, and the playbook of a single command."""

from __future__ import annotations

TEST, CLEANUP, CONCLUDE = "test", "cleanup", "conclude"
TOOLBOX_FLOW = "toolbox"
