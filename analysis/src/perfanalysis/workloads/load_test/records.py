"""Read the records of requests of a load generator. Records of other types are left out, counted and reported."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TypeVar

import msgspec

from perfanalysis.files.bounded import opened
from perfanalysis.files.documents import load_json
from perfanalysis.files.long_lists import LongLists
from perfanalysis.files.recording_files import RecordingFiles

Record = TypeVar("Record", bound=msgspec.Struct)


def read_records(
    source: RecordingFiles,
    name: str,
    generator: str,
    records: Iterable[tuple[int, Record | None]],
    add: Callable[[int, Record], None],
) -> bool:
    """Pass the records of a file to *add*, with the number of their list; return whether the file was read to its end.

    Args:
        generator: Name of the program, for messages.
        records: What `of_lists` or `of_lines` yields; None for a record of another type.
    """
    read = bad = 0
    try:
        for number, record in records:
            read += 1
            if record is None:
                bad += 1
            else:
                add(number, record)
    except FileNotFoundError:
        source.find("error", name, f"the file is missing: {generator} wrote no records of requests")
        return False
    except (OSError, ValueError) as error:
        source.find("error", name, f"the file cannot be read: {error}")
        return False
    finally:
        if bad:
            source.find("error", name, f"{bad} of {read} records are not of requests and were left out")
    return True


def of_lists(lists: LongLists, kind: type[Record]) -> Iterator[tuple[int, Record | None]]:
    """Yield the objects of long lists, with the number of their list."""
    decoder = msgspec.json.Decoder(list[kind])  # type: ignore[valid-type]
    for number, text in lists.objects():
        try:
            found: list[Record | None] = decoder.decode(text)
        except ValueError:
            found = [_record(partial(msgspec.convert, value, kind)) for value in load_json(text)]
        yield from ((number, one) for one in found)


def of_lines(source: RecordingFiles, name: str, kind: type[Record]) -> Iterator[tuple[int, Record | None]]:
    """Yield the objects of a file with one a line; the number is 0."""
    decoder = msgspec.json.Decoder(kind)
    with opened(source.path(name)) as lines:
        yield from ((0, _record(partial(decoder.decode, line))) for line in lines)


def _record(read: Callable[[], Record]) -> Record | None:
    try:
        return read()
    except ValueError:
        return None
