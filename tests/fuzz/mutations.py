"""Damage a directory of files: one small or large change at a time, drawn by a seeded generator.

`mutate` changes or replaces one file, and describes the change. Some changes are of bytes, as by a broken disk or a
killed process; the others are of values in JSON, JSON lines and YAML, as by a program with another idea of the format.
"""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

DEEP = 20_000
LONG = 200_000
Chance = random.Random
RAW = "@@raw@@"
"""Marks the place in a JSON document for a token that no encoder would write."""
TOKENS = (
    "NaN", "Infinity", "-Infinity", "1e999", "-1e999", "1e308", "-1e308", "1e-320", "9" * 400, "-9223372036854775809",
    "9223372036854775808", "18446744073709551616", "0.1e", "truth", "'single'", '"\\ud800"', '"\\u0000"', "", "{", "]",
)  # fmt: skip
YAML_TOKENS = (
    "&a [*a]", "&a {self: *a}", "*nothing", "!!python/object/apply:os.getcwd []", "!!binary aGVsbG8=", "2026-02-31",
    "2026-03-02", "2026-03-02T10:00:00Z", "1:30", "0o17", "~", "!!set {a, b}", "!own {a: 1}", "? [1, 2]\n: 3", "<<: 3",
    "\t",     "!!timestamp x", "!!int x", "{[a]: b}",
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, -1.5, 10**9, 10**12, 1e18, -1e18, 2**31, 2**63 - 1, -(2**63), "", " ", "x", "ok",
    "failed", "-1", "1e999", "nan", "\u0000", "\u202e", "é\n\"'<script>", "../../etc/passwd", "/etc/passwd", "a/b",
    ".", "*", "x" * 5000, "2026-13-45T99:99:99Z", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59.999999-14:00",
    "2026-03-02T09:00:00", "2026-03-02T09:00:00.000000000001Z", "P1D", [], {}, [[]], [None], {"": None},
    {"a": {"b": []}}, [1, "a", None, {}], ["x"] * 50, {"schema": "psap.perf/run/1"}, "psap.perf/run/99",
)  # fmt: skip


def mutate(directory: Path, chance: Chance) -> str:
    """Change one thing below the directory; return a sentence that describes the change."""
    files = sorted(path for path in directory.rglob("*") if path.is_file())
    if not files:
        return "nothing is left"
    path = chance.choice(files)
    structured = path.suffix in (".json", ".jsonl", ".yml", ".yaml")
    changes = STRUCTURED if structured and chance.random() < 0.6 else BYTES if chance.random() < 0.75 else TREES
    name = chance.choice(sorted(changes))
    details = changes[name](path, chance)
    return f"{path.relative_to(directory)}: {name}{f' {details}' if details else ''}"


# -- bytes


def _edit(edit: Callable[[bytearray, Chance], None]) -> Callable[[Path, Chance], str]:
    def change(path: Path, chance: Chance) -> str:
        content = bytearray(path.read_bytes())
        edit(content, chance)
        path.write_bytes(content)
        return ""

    return change


def _flip(content: bytearray, chance: Chance) -> None:
    for _ in range(chance.choice((1, 1, 1, 8, 64)) if content else 0):
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)


def _replace(content: bytearray, chance: Chance) -> None:
    for _ in range(chance.choice((1, 4)) if content else 0):
        content[chance.randrange(len(content))] = chance.choice(b'{}[],:"0987-.eE \n\\nt')


def _truncate(content: bytearray, chance: Chance) -> None:
    del content[chance.randint(0, len(content)) :]


def _behead(content: bytearray, chance: Chance) -> None:
    del content[: chance.randint(0, len(content))]


def _part(content: bytearray, chance: Chance) -> tuple[int, int]:
    start = chance.randint(0, len(content))
    return start, min(len(content), start + chance.choice((1, 10, 100, 1000)))


def _cut(content: bytearray, chance: Chance) -> None:
    start, end = _part(content, chance)
    del content[start:end]


def _double(content: bytearray, chance: Chance) -> None:
    start, end = _part(content, chance)
    content[end:end] = content[start:end] * chance.choice((1, 2, 20))


def _insert(content: bytearray, chance: Chance) -> None:
    at = chance.randint(0, len(content))
    content[at:at] = chance.choice(
        (b"\xff\xfe", b"\xc3", b"\xed\xa0\x80", b"\0", b"\0" * 4096, b"\xef\xbb\xbf", b"\r\n", b"\n\n\n",
         b"[" * DEEP, b'{"a":' * DEEP, b"9" * 5000, b"x" * LONG, b"\x1b[31m", b'","', b"- - - -", b"#", b"'", b"\x85",
         b"\xe2\x80\xa8")
    )  # fmt: skip


def _lines(content: bytearray, chance: Chance) -> None:
    lines = bytes(content).splitlines(keepends=True)
    change = chance.choice(("shuffle", "drop", "double", "reverse", "without ends"))
    if change == "shuffle":
        chance.shuffle(lines)
    elif change == "drop":
        lines = [line for line in lines if chance.random() < 0.5]
    elif change == "double":
        lines = [line for line in lines for _ in range(chance.choice((1, 1, 2)))]
    elif change == "reverse":
        lines.reverse()
    else:
        lines = [line.rstrip(b"\r\n") for line in lines]
    content[:] = b"".join(lines)


def _utf16(content: bytearray, chance: Chance) -> None:
    content[:] = (
        bytes(content).decode("utf-8", "replace").encode(chance.choice(("utf-16", "utf-32", "latin-1")), "replace")
    )


BYTES: dict[str, Callable[[Path, Chance], str]] = {
    "bits flipped": _edit(_flip),
    "bytes replaced": _edit(_replace),
    "truncated": _edit(_truncate),
    "beheaded": _edit(_behead),
    "a part cut out": _edit(_cut),
    "a part doubled": _edit(_double),
    "bytes put in": _edit(_insert),
    "lines changed": _edit(_lines),
    "emptied": _edit(lambda content, chance: content.clear()),
    "random bytes": _edit(
        lambda content, chance: content.__setitem__(slice(None), chance.randbytes(chance.choice((1, 50, 5000))))
    ),
    "another encoding": _edit(_utf16),
}


# -- the tree


def _deleted(path: Path, chance: Chance) -> str:
    path.unlink()
    return ""


def _renamed(path: Path, chance: Chance) -> str:
    name = chance.choice(
        (f"{path.name}.bak", path.stem, f"x{path.suffix}", f".{path.name}", f"{path.stem}.JSON", "a b.json")
    )
    path.rename(path.with_name(name))
    return f"to {name}"


def _copied(path: Path, chance: Chance) -> str:
    others = sorted(other for other in path.parent.iterdir() if other.is_file() and other != path)
    target = chance.choice([*others, path.with_name(f"copy{path.suffix}"), path.parent.parent / path.name])
    shutil.copyfile(path, target)
    return f"to {target.name}"


def _directory(path: Path, chance: Chance) -> str:
    path.unlink()
    path.mkdir()
    return ""


def _link(path: Path, chance: Chance) -> str:
    path.unlink()
    target = chance.choice((path.name, "/nowhere", "..", "."))
    path.symlink_to(target)
    return f"to {target}"


def _moved_folder(path: Path, chance: Chance) -> str:
    target = path.parent.with_name(chance.choice(("moved", "000__x__y", "010__lane__a", "report", ".hidden")))
    if target.exists():
        return "not, the place is taken"
    path.parent.rename(target)
    return f"to {target.name}"


TREES: dict[str, Callable[[Path, Chance], str]] = {
    "deleted": _deleted,
    "renamed": _renamed,
    "copied": _copied,
    "a directory in its place": _directory,
    "a link in its place": _link,
    "its folder moved": _moved_folder,
}


# -- values


def _places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths of all values of a document."""
    found = [at]
    if isinstance(value, dict):
        for key, inner in value.items():
            found += _places(inner, (*at, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value[:30]):
            found += _places(inner, (*at, number))
    return found


def _set(document: Any, at: tuple[Any, ...], value: Any) -> Any:
    if not at:
        return value
    parent = _get(document, at[:-1])
    parent[at[-1]] = value
    return document


def _get(document: Any, at: tuple[Any, ...]) -> Any:
    for step in at:
        document = document[step]
    return document


Edit = Callable[[Any, tuple[Any, ...], Chance], Any]


def _odd(document: Any, at: tuple[Any, ...], chance: Chance) -> Any:
    return _set(document, at, chance.choice(VALUES))


def _token(document: Any, at: tuple[Any, ...], chance: Chance) -> Any:
    return _set(document, at, RAW)


def _other_type(document: Any, at: tuple[Any, ...], chance: Chance) -> Any:
    value = _get(document, at)
    if isinstance(value, dict):
        new: Any = list(value.items())
    elif isinstance(value, list):
        new = dict(enumerate(map(str, value))) if chance.random() < 0.5 else value[:1] * 3 if value else {}
        new = {str(key): inner for key, inner in new.items()} if isinstance(new, dict) else new
    elif isinstance(value, str):
        new = chance.choice(([value], {value: value}, len(value), value[::-1], value * 3, value.encode().hex()))
    else:
        new = chance.choice((str(value), [value], {"value": value}, -value if isinstance(value, int | float) else 0))
    return _set(document, at, new)


def _without(document: Any, at: tuple[Any, ...], chance: Chance) -> Any:
    if at:
        del _get(document, at[:-1])[at[-1]]
        return document
    return {}


def _key(document: Any, at: tuple[Any, ...], chance: Chance) -> Any:
    parent = _get(document, at[:-1])
    if at and isinstance(parent, dict):
        parent[chance.choice(("", "x", str(at[-1]).upper(), f"{at[-1]}_s", "__proto__", "a.b", "é"))] = parent.pop(
            at[-1]
        )
    return document


def _swapped(document: Any, at: tuple[Any, ...], chance: Chance) -> Any:
    other = chance.choice(_places(document))
    value = json.loads(json.dumps(_get(document, other)))
    return _set(document, at, value)


def _scaled(document: Any, at: tuple[Any, ...], chance: Chance) -> Any:
    value = _get(document, at)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return _odd(document, at, chance)
    return _set(document, at, value * chance.choice((-1, 0, 0.5, 1000, 1e9, 1e300)))


EDITS: dict[str, Edit] = {
    "a value replaced": _odd,
    "a token put in": _token,
    "a type changed": _other_type,
    "a value removed": _without,
    "a key renamed": _key,
    "a value copied from elsewhere": _swapped,
    "a number scaled": _scaled,
}


def _structured(edit: Edit) -> Callable[[Path, Chance], str]:
    def change(path: Path, chance: Chance) -> str:
        text = path.read_text(encoding="utf-8", errors="replace")
        if path.suffix == ".jsonl":
            return _line(path, text, edit, chance)
        try:
            document = json.loads(text) if path.suffix == ".json" else yaml.safe_load(text)
            at = chance.choice(_places(document))
            changed = edit(document, at, chance)
            token = chance.choice(TOKENS if path.suffix == ".json" else (*TOKENS, *YAML_TOKENS))
            path.write_text(_written(changed, path, token), encoding="utf-8", errors="surrogatepass")
        except (ValueError, TypeError, KeyError, IndexError, OverflowError, yaml.YAMLError, RecursionError):
            return BYTES["bytes replaced"](path, chance)
        return f"at {'.'.join(map(str, at)) or 'the top'}"

    return change


def _line(path: Path, text: str, edit: Edit, chance: Chance) -> str:
    lines = text.splitlines()
    if not lines:
        return "not, it is empty"
    number = chance.randrange(len(lines))
    # one value in one line, or the same in every line
    chosen = range(len(lines)) if chance.random() < 0.3 else (number,)
    seed = chance.random()
    for place in chosen:
        same = random.Random(seed)
        try:
            document = json.loads(lines[place])
            at = same.choice(_places(document))
            lines[place] = _written(edit(document, at, same), path, same.choice(TOKENS)).replace("\n", "")
        except (ValueError, TypeError, KeyError, IndexError, OverflowError, RecursionError):
            lines[place] = "{"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", errors="surrogatepass")
    return f"in {'every line' if len(chosen) > 1 else f'line {number + 1}'}"


def _written(document: Any, path: Path, token: str) -> str:
    text = json.dumps(document, default=str, indent=1 if path.suffix == ".json" else None)
    return text.replace(f'"{RAW}"', token)


def _nested(path: Path, chance: Chance) -> str:
    begin, end = chance.choice((("[", "]"), ('{"a":', "}")))
    inner = "1" if begin != "[" else ""
    depth = chance.choice((200, DEEP))
    path.write_text(f"{begin * depth}{inner}{end * depth}\n")
    return f"{depth} deep"


STRUCTURED: dict[str, Callable[[Path, Chance], str]] = {
    **{name: _structured(edit) for name, edit in EDITS.items()},
    "nested": _nested,
}
