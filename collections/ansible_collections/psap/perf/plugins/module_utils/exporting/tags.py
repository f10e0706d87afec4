"""Tags of exported objects, which a store's rules can use to delete old ones."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.clock import seconds
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.exporting.manifest import RETENTION_TAG

# limit of S3
_MOST = 10
_TEXT = re.compile(r"[\w\s.:/=+@-]*")
_LONGEST = {"key": 128, "value": 256}


def object_tags(retention: str, others: Mapping[str, Any]) -> dict[str, str]:
    """Return the tags of every object of an export: *others*, and the retention.

    Raises:
        UsageError: If a store would refuse a tag, or the retention is not a duration.
    """
    tags = {str(key): str(value) for key, value in others.items()}
    if retention:
        seconds(retention)
        tags[RETENTION_TAG] = retention
    for key, value in tags.items():
        for text, what in ((key, "key"), (value, "value")):
            if not _TEXT.fullmatch(text) or len(text) > _LONGEST[what] or (what == "key" and not text.strip()):
                raise UsageError(
                    f"export_tags: {text[:40]!r} is not a valid {what}; use letters, digits, spaces, . : / = + - @ _, "
                    f"at most {_LONGEST[what]}"
                )
    if len(tags) > _MOST:
        raise UsageError(f"export_tags: {len(tags)} tags, but a store accepts at most {_MOST} per object")
    return tags
