"""Tags of exported objects, by which a store's own rules can delete what is old."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.clock import seconds
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.exporting.manifest import RETENTION_TAG

# what S3 takes
_MOST = 10
_TEXT = re.compile(r"[\w\s.:/=+@-]*")
_LONGEST = {"key": 128, "value": 256}


def object_tags(retention: str, others: Mapping[str, Any]) -> dict[str, str]:
    """The tags of every object of an export: the given ones, and how long it is kept.

    :raises UsageError: one that a store would refuse, or a retention that is not a duration.
    """
    tags = {str(key): str(value) for key, value in others.items()}
    if retention:
        seconds(retention)
        tags[RETENTION_TAG] = retention
    for key, value in tags.items():
        for text, what in ((key, "key"), (value, "value")):
            if not _TEXT.fullmatch(text) or len(text) > _LONGEST[what] or (what == "key" and not text.strip()):
                raise UsageError(
                    f"export_tags: {text[:40]!r} is no {what} of a tag: letters, digits, spaces, . : / = + - @ _, "
                    f"at most {_LONGEST[what]}"
                )
    if len(tags) > _MOST:
        raise UsageError(f"export_tags: a store takes {_MOST} tags of an object, and these are {len(tags)}")
    return tags
