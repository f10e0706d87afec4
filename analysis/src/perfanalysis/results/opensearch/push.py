"""Push documents of a history to a server: what is there already stays as it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from perfanalysis.drawing.wording import counted
from perfanalysis.errors import AnalysisError
from perfanalysis.files.documents import Document, mapping
from perfanalysis.results.opensearch.connection import connect, told
from perfanalysis.results.opensearch.layout import Stored, index_name, make_indices, of_kpis, of_run

if TYPE_CHECKING:
    from opensearchpy import OpenSearch

    from perfanalysis.results.opensearch.connection import Server

THERE_ALREADY = 409
MOST_TOLD = 10


@dataclass(frozen=True)
class Patience:
    """How often a server that answers 429 is asked again, and how long after the first time, doubled each time."""

    attempts: int = 6
    first_wait_s: float = 1.0
    longest_wait_s: float = 30.0


@dataclass(frozen=True)
class Failure:
    """A document that the server did not take."""

    run: str
    what: str
    reason: str


@dataclass(frozen=True)
class Pushed:
    """How many documents are new and how many were there, by `runs` and `kpis`; and those that were refused."""

    new: Counter[str]
    there: Counter[str]
    failures: tuple[Failure, ...]

    def error(self) -> AnalysisError | None:
        """What to end with: None when everything is stored."""
        if not self.failures:
            return None
        runs = sorted({failure.run for failure in self.failures})
        told_of = [f"{each.what} of {each.run}: {each.reason}" for each in self.failures[:MOST_TOLD]]
        more = f"; and {len(self.failures) - MOST_TOLD} more" if len(self.failures) > MOST_TOLD else ""
        return AnalysisError(
            f"{counted(len(self.failures), 'document')} of {counted(len(runs), 'run')} could not be stored: "
            f"{'; '.join(told_of)}{more}. "
            "Push again when that is mended: what was stored is not stored twice"
        )


def push(server: Server, documents: Sequence[Document], patience: Patience | None = None) -> Pushed:
    """Push scrubbed documents. A run's own document comes after all of its values, so where it stands, all stand.

    Raises ServerError when the server refuses altogether.
    """
    client = connect(server)
    make_indices(client, server)
    sender = _Sender(client, server, patience or Patience())
    sender.send("kpis", (each for document in documents for each in of_kpis(document, server)))
    incomplete = {failure.run for failure in sender.failures}
    whole = (document for document in documents if str(document["run"]) not in incomplete)
    sender.send("runs", (of_run(document, server) for document in whole))
    with told(server.url):
        client.indices.refresh(index=",".join(index_name(server, what) for what in ("runs", "kpis")))
    return Pushed(sender.new, sender.there, tuple(sender.failures))


class _Sender:
    """Sends documents in bulk and counts what became of them."""

    def __init__(self, client: OpenSearch, server: Server, patience: Patience) -> None:
        self._client, self._server, self._patience = client, server, patience
        self.new: Counter[str] = Counter()
        self.there: Counter[str] = Counter()
        self.failures: list[Failure] = []

    def send(self, kind: str, stored: Iterable[Stored]) -> None:
        # by identity: what was asked again is answered later than what was sent after it
        sent: dict[str, tuple[str, str]] = {}
        with told(self._server.url):
            for answer in self._answers(_actions(stored, sent)):
                status = answer.get("status")
                if status == THERE_ALREADY:
                    self.there[kind] += 1
                elif isinstance(status, int) and status < 300:
                    self.new[kind] += 1
                else:
                    run, what = sent[str(answer.get("_id"))]
                    self.failures.append(Failure(run, what, _reason(answer)))

    def _answers(self, actions: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        from opensearchpy import helpers

        for _, answer in helpers.streaming_bulk(
            self._client,
            actions,
            raise_on_error=False,
            max_retries=self._patience.attempts,
            initial_backoff=self._patience.first_wait_s,  # type: ignore[arg-type]  # parts of a second are fine
            max_backoff=self._patience.longest_wait_s,  # type: ignore[arg-type]
        ):
            yield mapping(mapping(answer).get("create"))


def _actions(stored: Iterable[Stored], sent: dict[str, tuple[str, str]]) -> Iterator[dict[str, Any]]:
    for each in stored:
        sent[each.identity] = each.run, each.what
        yield {"_op_type": "create", "_index": each.index, "_id": each.identity, "_source": each.source}


def _reason(answer: Mapping[str, Any]) -> str:
    """What the server says of a document that it did not take, with the cause that it names."""
    error = mapping(answer.get("error"))
    if not error:
        return f"status {answer.get('status')}: {answer.get('error')}"
    cause = mapping(error.get("caused_by")).get("reason")
    return f"{error.get('type')}: {error.get('reason')}{f' ({cause})' if cause else ''}"
