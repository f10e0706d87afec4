"""A small asynchronous client of the lab's API server for `up` and `scale`, fast for many objects."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import aiohttp

from perflab.errors import ClusterError

# more do not help on a few cores: the API server's CPU is the limit
CONNECTIONS = 32
CONFLICT = 409
NOT_FOUND = 404
_TIMEOUT = 504
_CONNECT_TIMEOUT_S = 10.0
# a server with the load of several others needed more than two for a large definition
_CREATIONS = 5

Document = dict[str, Any]
# a merge patch, or a JSON patch
Body = Document | list[Document]
Item = TypeVar("Item")


class Api:
    """Requests to one API server, as administrator."""

    def __init__(self, session: aiohttp.ClientSession, server: str) -> None:
        """Use `session`, which has the client certificate, for requests to `server` (a URL)."""
        self._session = session
        self._server = server

    async def get(self, path: str) -> Document:
        """Read an object or a list."""
        return await self._request("GET", path, None, ())

    async def get_present(self, path: str) -> Document | None:
        """Read an object that may not exist; None if it does not."""
        found = await self._request("GET", path, None, (NOT_FOUND,))
        return None if found.get("code") == NOT_FOUND else found

    async def list(self, path: str) -> list[Document]:
        """Read the objects of a list."""
        return (await self.get(path))["items"] or []

    async def create(self, path: str, body: Document) -> Document | None:
        """Create an object and return it; None, without a change, if one of that name exists."""
        for _attempt in range(_CREATIONS - 1):
            created = await self._request("POST", path, body, (CONFLICT, _TIMEOUT))
            if created.get("code") != _TIMEOUT:
                break
            # a busy machine: a request that timed out in the server may have succeeded meanwhile
        else:
            created = await self._request("POST", path, body, (CONFLICT,))
        return None if created.get("code") == CONFLICT else created

    async def patch(self, path: str, body: Body) -> Document:
        """Merge `body` into an object and return the result."""
        return await self._request("PATCH", path, body, ())

    async def patch_present(self, path: str, body: Body) -> Document | None:
        """Merge `body` into an object and return the result; None if it does not exist."""
        patched = await self._request("PATCH", path, body, (NOT_FOUND,))
        return None if patched.get("code") == NOT_FOUND else patched

    async def delete(self, path: str) -> None:
        """Delete an object without a grace period; it need not exist."""
        body = {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0}
        await self._request("DELETE", path, body, (NOT_FOUND,))

    async def exists(self, path: str) -> bool:
        """Return whether the object exists."""
        return await self.get_present(path) is not None

    async def watch(self, path: str) -> AsyncIterator[Document]:
        """Yield the events of a watch, until the server ends it; raises ClusterError if the connection breaks."""
        # it has no time limit, and an event may be longer than aiohttp's limit for lines
        unlimited = aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_TIMEOUT_S)
        try:
            async with self._session.get(self._server + path, timeout=unlimited) as answer:
                if not answer.ok:
                    raise ClusterError(f"GET {path}: the API server returned status {answer.status}")
                rest = b""
                async for chunk in answer.content.iter_any():
                    *lines, rest = (rest + chunk).split(b"\n")
                    for line in lines:
                        yield json.loads(line)
        except (aiohttp.ClientError, TimeoutError) as error:
            raise ClusterError(f"the watch {path} broke: {error}") from error

    async def _request(self, method: str, path: str, body: Body | None, accepted: Sequence[int]) -> Document:
        kind = "json-patch+" if isinstance(body, list) else "merge-patch+"
        content = f"application/{kind if method == 'PATCH' else ''}json"
        # an unknown field is a mistake of the lab; by default, the server drops it
        query = "?fieldValidation=Strict" if method in ("POST", "PATCH") else ""
        data = None if body is None else json.dumps(body).encode()
        try:
            async with self._session.request(
                method, self._server + path + query, data=data, headers={"Content-Type": content}
            ) as answer:
                text = await answer.text()
        except (aiohttp.ClientError, TimeoutError) as error:
            raise ClusterError(f"the lab's API server does not respond at {self._server}: {error}") from error
        if not answer.ok:
            if answer.status not in accepted:
                raise ClusterError(f"{method} {path}: the API server returned status {answer.status}: {text[:500]}")
            # for an unknown kind, it responds with a text
            return {"code": answer.status}
        document: Document = json.loads(text)
        return document


@asynccontextmanager
async def connect(folder: Path, server: str, connections: int = CONNECTIONS) -> AsyncIterator[Api]:
    """Yield an `Api` with the administrator's certificate of the lab in `folder`.

    Each watch occupies one of the *connections*; 0 sets no limit.
    """
    pki = folder / "pki"
    tls = ssl.create_default_context(cafile=str(pki / "ca.crt"))
    tls.load_cert_chain(pki / "admin.crt", pki / "admin.key")
    connector = aiohttp.TCPConnector(ssl=tls, limit=connections)
    async with aiohttp.ClientSession(connector=connector) as session:
        yield Api(session, server)


async def in_bulk(items: Sequence[Item], do: Callable[[Item], Awaitable[object]]) -> None:
    """Call a function for each item, as many concurrently as there are connections."""
    queue = iter(items)

    async def work() -> None:
        for item in queue:
            await do(item)

    await asyncio.gather(*(work() for _ in range(min(CONNECTIONS, len(items)))))
