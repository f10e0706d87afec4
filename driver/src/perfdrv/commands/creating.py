"""The files that `perfdrv new` creates: renamed copies of the flow skeleton, written all or not at all."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from ansible_collections.psap.perf.plugins.module_utils.base.naming import groups, split_role

from perfdrv.collection import COLLECTION, collection_of
from perfdrv.errors import UsageError
from perfdrv.project import Project

GROUPS = COLLECTION / "meta" / "groups.yml"
KINDS = Path("analysis/src/perfanalysis/workloads")
TEMPLATES = COLLECTION / "meta" / "templates.yml"
NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
# a Job has the name of its command, and labels have at most 63 characters
LONGEST_NAME = 30
_LINE = 120
_WHERE = (
    "perfdrv new needs a clone of the repository, which contains the collection: change into one, or name it: "
    "perfdrv --project DIR new …"
)


@dataclass(slots=True)
class Files:
    """New and changed files of a project, relative to its root."""

    root: Path
    added: dict[Path, str] = field(default_factory=dict)
    changed: dict[Path, str] = field(default_factory=dict)

    def add(self, path: Path, text: str) -> None:
        """Add a new file; *path* is relative to the root."""
        self.added[path] = text

    def change(self, path: Path, edit: Callable[[str], str]) -> None:
        """Change the text of an existing file.

        Raises:
            UsageError: The project has no such file.
        """
        if not (self.root / path).is_file():
            raise UsageError(f"{path} is missing in {self.root}, so nothing was written; {_WHERE}")
        self.changed[path] = edit(self.changed.get(path) or (self.root / path).read_text(encoding="utf-8"))

    def write(self) -> None:
        """Write all files, or none.

        Raises:
            UsageError: A new file exists, or is outside the project; nothing was written.
        """
        self._refuse()
        before = {path: (self.root / path).read_text(encoding="utf-8") for path in self.changed}
        done: list[Path] = []
        with tempfile.TemporaryDirectory(prefix=".new-", dir=self.root) as scratch, self._undone(done, before):
            for number, (path, text) in enumerate({**self.added, **self.changed}.items()):
                staged = Path(scratch, str(number))
                staged.write_text(text, encoding="utf-8")
                if path in self.changed:
                    shutil.copymode(self.root / path, staged)
                    done.append(path)
                    staged.replace(self.root / path)
                else:
                    (self.root / path).parent.mkdir(parents=True, exist_ok=True)
                    try:
                        # unlike a rename, a link fails if the file exists meanwhile
                        os.link(staged, self.root / path)
                    except OSError:
                        _remove_empty(self.root / path, self.root)
                        raise
                    done.append(path)

    def _refuse(self) -> None:
        taken = [path for path in self.added if (self.root / path).exists() or (self.root / path).is_symlink()]
        if taken:
            more = f" and {len(taken) - 1} more files exist" if len(taken) > 1 else " exists"
            raise UsageError(f"{taken[0]}{more}, so nothing was written; choose another name")
        root = self.root.resolve()
        for path in (*self.added, *self.changed):
            if not (self.root / path).resolve().is_relative_to(root):
                raise UsageError(
                    f"{path} is a link out of the project {self.root}, to {(self.root / path).resolve()}, "
                    f"so nothing was written; {_WHERE}"
                )

    @contextlib.contextmanager
    def _undone(self, done: list[Path], before: Mapping[Path, str]) -> Iterator[None]:
        """Undo what was written if an error interrupts the block."""
        try:
            yield
        except BaseException:
            for path in reversed(done):
                if path in before:
                    (self.root / path).write_text(before[path], encoding="utf-8")
                else:
                    (self.root / path).unlink()
                    _remove_empty(self.root / path, self.root)
            raise


def _remove_empty(path: Path, root: Path) -> None:
    """Remove the empty folders above *path*."""
    with contextlib.suppress(OSError):
        for folder in path.parents:
            if folder == root:
                return
            folder.rmdir()


def checked_name(what: str, name: str) -> str:
    """Return a name with underscores, if files, variables and objects of Kubernetes can have it.

    Raises:
        UsageError: The name is invalid.
    """
    given = name.replace("-", "_")
    if not NAME.fullmatch(given):
        raise UsageError(f"invalid name {name!r} of a {what}: use lower-case letters, digits and single underscores")
    if len(given) > LONGEST_NAME:
        raise UsageError(f"invalid name {name!r} of a {what}: use at most {LONGEST_NAME} characters")
    return given


def template(project: Project) -> Mapping[str, Any]:
    """Return the patterns of the copied files by kind, and the name of the copied flow under `name`.

    Raises:
        UsageError: The project has no such flow.
    """
    path = collection_of(project.root) / TEMPLATES.relative_to(COLLECTION)
    if not path.is_file():
        raise UsageError(f"{project.root} has no files to copy: {TEMPLATES} is missing; {_WHERE}")
    document: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return document


def template_files(project: Project, patterns: list[str]) -> Iterator[tuple[Path, str]]:
    """Yield path, relative to the project, and text of each file that matches a pattern."""
    for pattern in patterns:
        for path in sorted(project.root.glob(pattern)):
            if path.is_file() and path.suffix != ".pyc":
                yield path.relative_to(project.root), path.read_text(encoding="utf-8")


def is_clone(project: Project) -> bool:
    """Return whether a project has the collection, so that commands and flows can be added to it."""
    return (project.root / COLLECTION).is_dir()


def flow_of_project(project: Project, flow: str, command: str, name: str) -> Iterator[tuple[Path, str]]:
    """Yield path and text of each file of the flow *name*, a copy of the collection's *flow* that keeps its *command*.

    Raises:
        UsageError: The collection has no such flow.
    """
    content = project.content()
    playbook, tasks = content.playbook(flow), content.task_folders.get(flow)
    if playbook is None or tasks is None:
        raise UsageError(f"the collection {content.collection} has no flow {flow} to copy; install psap-perf again")
    names = {flow: name, command: command}
    folder = Path("playbooks", name)
    text = renamed(playbook.read_text(encoding="utf-8"), names)
    yield folder.with_suffix(".yml"), text.replace("import_playbook: flow.yml", "import_playbook: psap.perf.flow")
    for path in sorted(tasks.glob("*.yml")):
        yield folder / path.name, renamed(path.read_text(encoding="utf-8"), names)
    preset = content.presets[flow].read_text(encoding="utf-8")
    yield Path("presets", name).with_suffix(".yml"), renamed(preset, names)


def role_of_project(project: Project, command: str, role: str) -> Iterator[tuple[Path, str]]:
    """Yield path and text of each file of the command *role*, a copy of the collection's *command*."""
    folder = project.content().role(command).folder
    # a directory of a run has the group and the name of its command
    names = {command: role, "__".join(split_role(command)): "__".join(split_role(role))}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        place = Path("roles", role, path.relative_to(folder))
        yield Path(renamed(str(place), names)), renamed(path.read_text(encoding="utf-8"), names)


def has_roles_path(config: Path) -> bool:
    """Return whether an ansible.cfg states where roles are; the first versions of `perfdrv init` did not."""
    return re.search(r"^roles_path *=", config.read_text(encoding="utf-8"), re.MULTILINE) is not None


def with_roles_path(text: str) -> str:
    """Return ansible.cfg with the line by which Ansible finds the roles of the project."""
    return re.sub(r"^\[defaults\]\n", "[defaults]\nroles_path = roles\n", text, count=1, flags=re.MULTILINE)


def renamed(text: str, names: Mapping[str, str]) -> str:
    """Return the text with each name replaced, longest first, also if capitalized or with dashes."""
    words = dict(names)
    for old, new in names.items():
        words.setdefault(old.capitalize(), new.replace("_", " ").capitalize())
        words.setdefault(f"{old.replace('_', '-')}-", f"{new.replace('_', '-')}-")
        words.setdefault(old.replace("_", "-"), new.replace("_", "-"))
    pattern = re.compile("|".join(re.escape(word) for word in sorted(words, key=len, reverse=True)))
    return pattern.sub(lambda found: words[found[0]], text)


def with_group(text: str, group: str, about: str) -> str:
    """Return groups.yml with one more group, in alphabetical order."""
    lines = text.splitlines(keepends=True)
    at = next((n for n, line in enumerate(lines) if line[:1].isalpha() and line > f"{group}:"), len(lines))
    return "".join([*lines[:at], f"{group}: {about}\n", *lines[at:]])


def with_scenario_of(text: str, role: str) -> str:
    """Return molecule.yml with one more command in the comment that lists them."""
    lines = text.splitlines()
    last = next(n for n, line in enumerate(lines[1:], start=1) if not line.startswith("#")) - 1
    more = f"{lines[last]}, {role}"
    lines[last : last + 1] = [more] if len(more) <= _LINE else [f"{lines[last]},", f"# {role}"]
    return "\n".join(lines) + "\n"


def with_tasks(text: str, name: str, file: str) -> str:
    """Return a file of tasks that includes one more file."""
    return f"{text.rstrip()}\n\n- name: {name}\n  ansible.builtin.include_tasks: {file}\n"


def with_line_like(text: str, old: str, new: str) -> str:
    """Return the text with a copy of each line that contains *old*, for *new*."""
    lines = text.splitlines(keepends=True)
    return "".join(line + renamed(line, {old: new}) if old in line else line for line in lines)


def with_kpi(text: str, lines: list[str]) -> str:
    """Return workload.yml with one more KPI at the end of its list."""
    given = text.splitlines()
    begin = next((n for n, line in enumerate(given) if line.rstrip() == "kpis:"), None)
    if begin is None:
        return f"{text.rstrip()}\n\nkpis:\n" + "\n".join(lines) + "\n"
    end = next((n for n in range(begin + 1, len(given)) if given[n][:1].isalpha()), len(given))
    while not given[end - 1].strip() or given[end - 1].startswith("#"):
        end -= 1
    return "\n".join([*given[:end], *lines, *given[end:]]) + "\n"


def refuse_like_another(project: Project, what: str, name: str) -> None:
    """Refuse a name that begins like another: settings of flows and commands of groups begin with their names.

    Raises:
        UsageError: The name exists, or is the beginning of another one or begins with it.
    """
    content = project.content()
    others = {*content.sections, *groups()}
    if what == "flow" and name in others:
        raise UsageError(f"a flow, a group of commands or a section of settings is already called {name!r}")
    # a flow can have a group of commands of the same name
    for other in sorted(others - {name}):
        if f"{name}_".startswith(f"{other}_") or f"{other}_".startswith(f"{name}_"):
            raise UsageError(f"{name!r} and the existing {other!r} begin alike: choose another name for the {what}")
