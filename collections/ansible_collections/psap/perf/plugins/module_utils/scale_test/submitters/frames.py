"""The messages between the coordinator and a pod: a line of JSON, and after it the bytes of a file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError

# far above the header of any message
_LONGEST_HEADER = 4096


@dataclass(frozen=True, slots=True)
class Frame:
    """A message; ``header`` has ``file`` with ``content``, or another single fact."""

    header: Mapping[str, Any]
    content: bytes = b""

    def encode(self) -> bytes:
        """Return the bytes of the message."""
        return json.dumps({**self.header, "size": len(self.content)}).encode() + b"\n" + self.content


@dataclass(slots=True)
class FrameReader:
    """Collects the messages of a stream."""

    _data: bytearray = field(default_factory=bytearray)

    def feed(self, data: bytes) -> list[Frame]:
        """Return the messages that *data* completes.

        Raises:
            PerfError: If the stream contains something else.
        """
        self._data += data
        found = []
        while (frame := self._next()) is not None:
            found.append(frame)
        return found

    def _next(self) -> Frame | None:
        end = self._data.find(b"\n", 0, _LONGEST_HEADER)
        if end < 0:
            if len(self._data) >= _LONGEST_HEADER:
                raise PerfError("its output is not in the format of a submitter")
            return None
        try:
            header = dict(json.loads(self._data[:end]))
            size = int(header.pop("size"))
        except (ValueError, TypeError, KeyError) as error:
            text = self._data[:end][:200].decode(errors="replace")
            raise PerfError(f"its output is not in the format of a submitter: {text}") from error
        if len(self._data) < end + 1 + size:
            return None
        content = bytes(self._data[end + 1 : end + 1 + size])
        del self._data[: end + 1 + size]
        return Frame(header, content)
