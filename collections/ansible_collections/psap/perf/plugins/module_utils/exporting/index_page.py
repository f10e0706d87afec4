"""The index page of an export: its facts and files, with links that work in a bucket and on a disk."""

from __future__ import annotations

import html
import urllib.parse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ansible_collections.psap.perf.plugins.module_utils.exporting.manifest import ExportedFile

_UNITS = ("B", "kB", "MB", "GB", "TB")
_GOOD = frozenset({"ok"})


@dataclass(frozen=True, slots=True)
class Subject:
    """The description of an export's contents.

    Attributes:
        facts: Lines of the page's head, such as its start.
        reason: First failure of a failed run; else empty.
    """

    name: str
    flow: str
    status: str
    facts: Mapping[str, str] = field(default_factory=dict)
    reason: str = ""


@dataclass(slots=True)
class _Folder:
    folders: dict[str, _Folder] = field(default_factory=dict)
    files: list[tuple[str, ExportedFile]] = field(default_factory=list)

    def count(self) -> int:
        """Return the number of its files, at any depth."""
        return len(self.files) + sum(folder.count() for folder in self.folders.values())


def index_page(subject: Subject, files: Sequence[ExportedFile]) -> str:
    """Return the page as HTML that needs no server and no other file."""
    facts = {**subject.facts, "files": f"{len(files)}, {size_text(sum(file.size for file in files))}"}
    status = "good" if subject.status in _GOOD else "bad"
    head = [
        f"<h1>{_text(subject.name)} <span class={status}>{_text(subject.status)}</span></h1>",
        f"<p class=reason>{_text(subject.reason)}</p>" if subject.reason else "",
        "<dl>",
        *(f"<dt>{_text(name)}<dd>{_text(value)}" for name, value in facts.items() if value),
        "</dl>",
        "<p class=first>",
        *_first_links(files),
        "</p>",
        '<label>Find a file: <input type=search id=find autocomplete=off placeholder="part of a path"></label>',
        "<p id=found hidden></p>",
    ]
    return _PAGE.format(title=_text(subject.name), head="\n".join(filter(None, head)), tree="\n".join(_tree(files)))


def _first_links(files: Iterable[ExportedFile]) -> Iterator[str]:
    """Yield links for most readers: pages, then failures, then the run's documents."""
    paths = [file.path for file in files]
    pages = [path for path in paths if path.endswith("/index.html")]
    failures = [path for path in paths if path.rpartition("/")[2] == "FAILURE"][:5]
    own = [path for path in ("run.json", "settings.yml", "ansible.log") if path in paths]
    for path in (*pages, *failures, *own):
        name = path.removesuffix("/index.html").removesuffix("/FAILURE")
        yield f'<a class="{"bad" if path in failures else ""}" href="{_link(path)}">{_text(name)}</a>'


def _tree(files: Iterable[ExportedFile]) -> Iterator[str]:
    root = _Folder()
    for file in files:
        *folders, name = file.path.split("/")
        place = root
        for folder in folders:
            place = place.folders.setdefault(folder, _Folder())
        place.files.append((name, file))
    yield from _lines(root)


def _lines(folder: _Folder) -> Iterator[str]:
    yield "<ul>"
    for name, inner in sorted(folder.folders.items(), key=lambda item: _order(item[0])):
        yield f"<li><details><summary>{_text(name)}/ <small>{inner.count()}</small></summary>"
        yield from _lines(inner)
        yield "</details>"
    for name, file in sorted(folder.files, key=lambda item: item[0]):
        size = f"<small>{size_text(file.size)}</small>"
        yield f'<li><a href="{_link(file.path)}" title="SHA-256 {file.sha256}">{_text(name)}</a> {size}'
    yield "</ul>"


def _order(name: str) -> tuple[int, str]:
    number = name.partition("__")[0]
    return (int(number), name) if number.isdecimal() else (-1, name)


def size_text(size: float) -> str:
    """Return a number of bytes as text, such as ``13.4 kB``."""
    for unit in _UNITS:
        if size < 1000 or unit == _UNITS[-1]:
            break
        size /= 1000
    return f"{size:.0f} {unit}" if unit == "B" or size >= 100 else f"{size:.1f} {unit}"


def _link(path: str) -> str:
    return html.escape(urllib.parse.quote(path), quote=True)


def _text(text: str) -> str:
    return html.escape(text, quote=True)


_PAGE = """<!doctype html>
<html lang=en><head><meta charset=utf-8><meta name=viewport content="width=device-width">
<meta name=robots content=noindex><title>{title}</title>
<style>
:root {{ color-scheme: light dark; --line: color-mix(in srgb, currentColor 18%, transparent); --good:
  #1a7f37; --bad: #c62828 }}
@media (prefers-color-scheme: dark) {{ :root {{ --good: #57c074; --bad: #ff8a80 }} }}
body {{ font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 62rem; padding: 0 1rem;
  overflow-wrap: anywhere }}
h1 {{ font-size: 1.35rem; margin: 0 0 .5rem }} h1 span {{ font-size: 1rem; margin-left: .5rem }}
.good {{ color: var(--good) }} .bad {{ color: var(--bad) }} .reason {{ white-space: pre-wrap; border-left:
  3px solid var(--bad); padding-left: .8rem }}
dl {{ display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; margin: .5rem 0 1rem }} dt {{
  opacity: .7 }} dd {{ margin: 0 }}
.first a {{ display: inline-block; border: 1px solid var(--line); border-radius: .4rem; padding: .15rem
  .6rem; margin: 0 .4rem .4rem 0; text-decoration: none }}
input {{ font: inherit; width: min(24rem, 100%); padding: .2rem .4rem }} label {{ display: block; margin:
  .8rem 0 }}
ul {{ list-style: none; padding-left: 1.1rem; margin: .15rem 0; border-left: 1px solid var(--line) }} main
  > ul {{ padding: 0; border: 0 }}
summary {{ cursor: pointer }} small {{ opacity: .65 }}
</style></head><body><header>
{head}
</header><main>
{tree}
</main><script>
const find = document.getElementById("find"), found = document.getElementById("found");
const files = [...document.querySelectorAll("main li > a")];
find.addEventListener("input", () => {{
  const words = find.value.toLowerCase().split(/\\s+/).filter(Boolean);
  let shown = 0;
  document.querySelectorAll("main li").forEach(item => item.hidden = words.length > 0);
  for (const file of files) {{
    const path = decodeURIComponent(file.getAttribute("href")).toLowerCase();
    if (!words.every(word => path.includes(word))) continue;
    shown += 1;
    for (let item = file.closest("li"); item; item = item.parentElement.closest("li")) {{
      item.hidden = false;
      const folder = item.querySelector(":scope > details");
      if (folder) folder.open = words.length > 0;
    }}
  }}
  found.hidden = words.length === 0;
  found.textContent = shown + " of " + files.length + " files";
}});
</script></body></html>
"""
