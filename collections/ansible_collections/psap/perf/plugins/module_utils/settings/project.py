"""The flows, commands, presets and sites of a project; each file is read once, on first use.

The published collection has playbooks, presets and inventories, which every project has in addition to its files. In a
clone of the repository, these folders are only those of the project. The files of a flow are in ``playbooks/<flow>`` of
a project and in ``flows/<flow>`` of the published collection, where ``psap.perf.<flow>`` has to name the playbook.
Other collections have flows and presets in the same folders. Their playbooks import ``psap.perf.flow``, which only the
published collection has, so that a clone does not have these flows.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.base.naming import (
    OWN_COLLECTION,
    did_you_mean,
    other_collections,
)
from ansible_collections.psap.perf.plugins.module_utils.settings.files import YamlFile, read_yaml_file
from ansible_collections.psap.perf.plugins.module_utils.settings.specs import (
    SHARED_ROLE,
    CommandSpec,
    FlowSpec,
    Option,
    read_command,
    read_flow,
)

COLLECTION = Path("collections/ansible_collections/psap/perf")
_OWN_COLLECTION = Path(__file__).resolve().parents[3]
# only the published collection has this folder
INSTALLED_PLAYBOOKS = _OWN_COLLECTION / "playbooks"
# The role that every command depends on; it is not a command.
_SPINE = ("command",)
_IS_COMMAND = f"{OWN_COLLECTION}.{_SPINE[0]}"


@dataclass(frozen=True, slots=True)
class Role:
    """The role of a command, or one with arguments that commands share: its folder, and its name for Ansible."""

    folder: Path
    full_name: str


def find_project(start: Path) -> Path | None:
    """Return the nearest folder at or above *start* with an ``ansible.cfg``; None if no folder has one."""
    start = start.absolute()
    return next((folder for folder in (start, *start.parents) if (folder / "ansible.cfg").is_file()), None)


class Project:
    """A project directory, read lazily."""

    def __init__(self, root: Path) -> None:
        """Read files below *root*, and commands from its own collection or from the installed one."""
        self.root = root.absolute()
        own = self.root / COLLECTION
        self.collection = own if own.is_dir() else _OWN_COLLECTION

    def folders(self, kind: str) -> tuple[Path, ...]:
        """Return the existing folders named *kind*, such as ``presets``: the project's, then those of collections."""
        places = (self.root, *self._collections)
        return tuple(folder for place in places if (folder := place / kind).is_dir())

    @functools.cached_property
    def _collections(self) -> tuple[Path, ...]:
        """The collections with flows: that of psap.perf, then others."""
        published = (self.collection / "flows").is_dir()
        return (self.collection, *(other_collections().values() if published else ()))

    @functools.cached_property
    def _declarations(self) -> dict[str, Path]:
        """The files ``playbooks/<flow>/settings.yml`` by flow; a flow of the project hides that of a collection."""
        folders = (*(folder / "flows" for folder in reversed(self._collections)), self.root / "playbooks")
        files = (path for folder in folders for path in sorted(folder.glob("*/settings.yml")))
        return {path.parent.name: path for path in files}

    @functools.cached_property
    def flows(self) -> tuple[str, ...]:
        """Return the names of all flows: every ``playbooks/<flow>/settings.yml``."""
        return tuple(sorted(name for name in self._declarations if name != "shared"))

    @functools.cached_property
    def task_folders(self) -> dict[str, Path]:
        """Return the folders of task files: of each flow, and ``shared``, the folder of all flows."""
        return {name: path.parent for name, path in self._declarations.items()}

    def playbook(self, name: str) -> Path | None:
        """Return the playbook *name*, of a flow or of a single command."""
        files = (folder / f"{name}.yml" for folder in self.folders("playbooks"))
        return next((path for path in files if path.is_file()), None)

    @functools.cached_property
    def roles(self) -> tuple[str, ...]:
        """The names of all commands' roles."""
        return tuple(name for name in self._roles_with_arguments if not name.startswith(SHARED_ROLE))

    @functools.cached_property
    def shared_roles(self) -> tuple[str, ...]:
        """The names of the roles whose arguments several commands share."""
        return tuple(name for name in self._roles_with_arguments if name.startswith(SHARED_ROLE))

    @property
    def _roles_with_arguments(self) -> tuple[str, ...]:
        return tuple(self._known_roles)

    @functools.cached_property
    def _known_roles(self) -> dict[str, Role]:
        """Return all roles by their names without a collection, which Ansible's variables begin with.

        Of several roles with one name, this is the first: that of the collection, if it has one.
        """
        return {name: roles[0] for name, roles in self._roles_by_name.items()}

    @functools.cached_property
    def _roles_by_name(self) -> dict[str, list[Role]]:
        found: dict[str, list[Role]] = {}
        for role in (*self._own_roles(), *self._added_roles()):
            same = found.setdefault(role.folder.name, [])
            if role.folder.resolve() not in [other.folder.resolve() for other in same]:
                same.append(role)
        return dict(sorted(found.items()))

    @functools.cached_property
    def ambiguous_roles(self) -> dict[str, str]:
        """Return why a name of several roles cannot be used, by the name."""
        return {
            name: f"{' and '.join(str(role.folder) for role in roles)} are commands of one name; rename one of them"
            for name, roles in self._roles_by_name.items()
            if len(roles) > 1
        }

    def _own_roles(self) -> Iterator[Role]:
        for folder in _folders_with_arguments(self.collection / "roles"):
            if folder.name not in _SPINE:
                yield Role(folder, f"{OWN_COLLECTION}.{folder.name}")

    def _added_roles(self) -> Iterator[Role]:
        """Yield the commands of other collections, then those in ``roles/`` of the project."""
        others = [(f"{name}.", folder / "roles") for name, folder in other_collections().items()]
        for prefix, roles in (*others, ("", self.root / "roles")):
            for folder in _folders_with_arguments(roles):
                meta = folder / "meta" / "main.yml"
                if meta.is_file() and _IS_COMMAND in meta.read_text(encoding="utf-8"):
                    yield Role(folder, f"{prefix}{folder.name}")

    @functools.cached_property
    def shared(self) -> FlowSpec | None:
        """Return the settings that all flows share."""
        path = self._declarations.get("shared")
        return None if path is None else read_flow(path, self.root, self._arguments_like)

    @functools.cached_property
    def sections(self) -> tuple[str, ...]:
        """Return the prefixes of settings: the flows, and the first words of the shared settings."""
        shared = () if self.shared is None else self.shared.settings
        return tuple(sorted({*self.flows, *(option.section for option in shared)}))

    @functools.cached_property
    def presets(self) -> dict[str, Path]:
        """Return the files of the presets by their names."""
        files = (path for folder in reversed(self.folders("presets")) for path in folder.glob("*.yml"))
        return dict(sorted({path.stem: path for path in files}.items()))

    @functools.cached_property
    def sites(self) -> dict[str, Path]:
        """Return the folders of the sites by their names."""
        found = (path for folder in reversed(self.folders("inventories")) for path in folder.glob("*"))
        return dict(sorted({path.name: path for path in found if path.is_dir()}.items()))

    def flow(self, name: str) -> FlowSpec:
        """Return the flow *name*.

        Raises:
            UsageError: If the flow does not exist, or its file is not well formed.
        """
        if name not in self.flows:
            raise UsageError(f"unknown flow {name}{did_you_mean(name, self.flows)}; perfdrv flows lists them")
        return self._flow(name)

    def command(self, role: str) -> CommandSpec:
        """Return the command of the role *role*.

        Raises:
            UsageError: As `flow`.
        """
        self.role(role)
        return self._command(role)

    @property
    def every_command(self) -> Iterator[CommandSpec]:
        """Yield the commands, then the roles whose arguments several commands share; not those of ambiguous names."""
        for name in (*self.roles, *self.shared_roles):
            if name not in self.ambiguous_roles:
                yield self._command(name)

    def role(self, name: str) -> Role:
        """Return the role of the command *name*.

        Raises:
            UsageError: If the command does not exist, or several roles have its name.
        """
        if name not in self._known_roles:
            raise UsageError(f"unknown command {name}{did_you_mean(name, self.roles)}; perfdrv commands lists them")
        if name in self.ambiguous_roles:
            raise UsageError(self.ambiguous_roles[name])
        return self._known_roles[name]

    def settings_of(self, flow: str) -> tuple[Option, ...]:
        """Return the settings of *flow*: its own, then the shared ones."""
        return self.flow(flow).settings + (() if self.shared is None else self.shared.settings)

    @functools.cached_property
    def every_setting(self) -> tuple[Option, ...]:
        """Return the settings of all flows, then the shared ones."""
        own = [option for flow in self.flows for option in self._flow(flow).settings]
        return (*own, *(() if self.shared is None else self.shared.settings))

    def setting(self, name: str) -> Option | None:
        """Return the setting *name* of any flow or section."""
        specs = [self._flow(flow) for flow in self.flows if name.startswith(flow + "_")]
        if self.shared is not None:
            specs.append(self.shared)
        return next((option for spec in specs if (option := spec.setting(name)) is not None), None)

    def role_of(self, name: str) -> str | None:
        """Return the role whose argument *name* would be: the longest that it begins with."""
        return next(reversed(self._roles_before(name)), None)

    def argument(self, name: str) -> Option | None:
        """Return the argument *name* of any command."""
        role = self.role_of(name)
        return None if role is None else self._command(role).argument(name)

    def option(self, name: str) -> Option | None:
        """Return the setting or argument *name*."""
        return self.setting(name) or self.argument(name)

    def is_ours(self, name: str) -> bool:
        """Return whether *name* has the prefix of a setting or of an argument."""
        return self.role_of(name) is not None or any(name.startswith(section + "_") for section in self.sections)

    @functools.cached_property
    def names(self) -> tuple[str, ...]:
        """Return every declared setting and argument; reads all files."""
        settings = [option.name for option in self.every_setting]
        arguments = [option.name for role in self._roles_with_arguments for option in self._command(role).arguments]
        return tuple(sorted({*settings, *arguments}))

    @functools.cached_property
    def renamed(self) -> dict[str, str]:
        """Return current names by former names and by TOPSAIL's dotted names (``meta/renamed.yml``)."""
        path = self.collection / "meta" / "renamed.yml"
        tables = self.read(path).data if path.is_file() else {}
        return {str(old): str(new) for table in tables.values() for old, new in (table or {}).items()}

    @functools.lru_cache(maxsize=4096)  # noqa: B019 - a project lives as long as its process
    def read(self, path: Path) -> YamlFile:
        """Return a YAML file, which is read once."""
        return read_yaml_file(path, self.root)

    @functools.lru_cache(maxsize=4096)  # noqa: B019 - a project lives as long as its process
    def _flow(self, name: str) -> FlowSpec:
        return read_flow(self._declarations[name], self.root, self._arguments_like)

    def _arguments_like(self, pattern: str) -> tuple[Option, ...]:
        literal, star, _rest = pattern.partition("*")
        roles = self._roles_before(literal)
        if not star:
            # most patterns are names, which need no expressions
            return tuple(one for role in roles for one in self._command(role).own_arguments if one.name == pattern)
        roles += [role for role in self._known_roles if role.startswith(literal)]
        arguments = (argument for role in roles for argument in self._command(role).own_arguments)
        return tuple(argument for argument in arguments if fnmatchcase(argument.name, pattern))

    def _roles_before(self, name: str) -> list[str]:
        """Return the roles whose names and an underscore *name* begins with; the longest is the last."""
        words = name.split("_")
        prefixes = ("_".join(words[:count]) for count in range(1, len(words)))
        return [prefix for prefix in prefixes if prefix in self._known_roles]

    @functools.lru_cache(maxsize=4096)  # noqa: B019 - a project lives as long as its process
    def _command(self, role: str) -> CommandSpec:
        return read_command(self._known_roles[role].folder, self.root)


def _folders_with_arguments(roles: Path) -> Iterator[Path]:
    return (path.parents[1] for path in sorted(roles.glob("*/meta/argument_specs.yml")))
