"""Requests of the lab to its API server."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from perflab.cluster.api import Api, Document


def test_creation_is_repeated_while_the_server_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The third request succeeds in the server although it times out."""
    codes = [504, 504, 504, 409]

    async def request(self: Api, method: str, path: str, body: Any, accepted: Sequence[int]) -> Document:
        assert codes[0] in accepted
        return {"code": codes.pop(0)}

    monkeypatch.setattr(Api, "_request", request)
    assert asyncio.run(Api.__new__(Api).create("/api/v1/namespaces", {})) is None
    assert codes == []
