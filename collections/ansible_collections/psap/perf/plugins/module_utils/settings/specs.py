"""The declarations: arguments of commands (``meta/argument_specs.yml``) and settings of flows.

They are read without Ansible, so that the command line, the documentation and every check use the same options.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.secrets.formats import ANYTHING, FORMATS
from ansible_collections.psap.perf.plugins.module_utils.settings.files import Where, YamlFile, read_yaml_file

# of this collection; a command may be in another one
_OWN_ROLES = Path(__file__).resolve().parents[3] / "roles"
TYPES = ("str", "int", "float", "bool", "list", "dict", "path", "raw")
COMPARE = ("key", "ignore")
EVERY_LEAF = "*"
"""The dimension of a dictionary whose leaves may each be a list of values."""
_OPTION_KEYS = frozenset(
    ("type", "description", "default", "required", "choices", "elements", "options", "dimension", "compare",
     "no_log", "version_added", "argument", "pull_request", "secret_format")
)  # fmt: skip
_OF_SETTINGS = ("argument", "pull_request", "secret_format")
# What a setting inherits from the argument that it binds, unless it declares its own
_INHERITED = ("type", "default", "elements")


@dataclass(frozen=True, slots=True)
class Option:
    """One declared variable, or one key of a dictionary's ``options``.

    Attributes:
        dimension: The dotted leaves that a matrix may vary: ``("",)`` for the value itself, which then may also be a
            list of values, ``("*",)`` for all leaves of a dictionary, ``()`` for none.
        section: The role, the flow or the shared section that declares it.
        arguments: The names of the arguments that a setting binds.
        pull_request: Whether a comment on a pull request may set it.
        secret_format: The format of a secret.
    """

    name: str
    type: str
    description: tuple[str, ...]
    default: Any
    required: bool
    choices: tuple[Any, ...]
    elements: str | None
    options: tuple[Option, ...]
    dimension: tuple[str, ...]
    secret: bool
    compare: str | None
    section: str
    where: Where
    arguments: tuple[str, ...] = ()
    pull_request: bool = False
    secret_format: str = ANYTHING

    @property
    def current(self) -> str:
        """Return the Jinja expression of a setting's value in a command; a dimension has one value in a cell."""
        name = self.name
        if not self.dimension:
            return name
        return f"perf_cell['values'].{name} | default({name}) if perf_cell is defined else {name}"

    @property
    def help(self) -> str:
        """Return the description as one text, without markup."""
        return as_text(" ".join(self.description))

    @property
    def keys(self) -> str:
        """Return the keys of the dictionary, or of each item of a list, with their descriptions; empty if none."""
        return "; ".join(f"C({each.name}): {' '.join(each.description)}".rstrip(".") for each in self.options)

    @property
    def varies(self) -> bool:
        """Return whether the value itself is a dimension of the matrix."""
        return "" in self.dimension

    def references(self, value: Any) -> Iterator[tuple[str, Any]]:
        """Yield the references in the *value* of a secret, or in its dictionary, each with its name.

        An empty text is not a reference.
        """
        if self.type == "dict":
            items = value.items() if isinstance(value, Mapping) else ()
            yield from ((f"{self.name}.{key}", item) for key, item in items)
        elif value not in (None, ""):
            yield self.name, value

    @property
    def short_name(self) -> str:
        """Return the name without its role or flow: ``scale_test_count`` → ``count``."""
        return self.name.removeprefix(self.section + "_")


@dataclass(frozen=True, slots=True)
class CommandSpec:
    """A command: its role, its description, its arguments in the order of the file, then shared ones."""

    role: str
    short_description: str
    description: tuple[str, ...]
    arguments: tuple[Option, ...]
    path: Path

    @property
    def help(self) -> tuple[str, ...]:
        """Return the description's paragraphs, without markup."""
        return tuple(map(as_text, self.description))

    @property
    def own_arguments(self) -> tuple[Option, ...]:
        """The arguments that the role declares itself."""
        return tuple(option for option in self.arguments if option.section == self.role)

    @property
    def defaults_file(self) -> Path:
        """The file with the defaults of the role; only the published collection has it."""
        return self.path.parent.parent / "defaults" / "main.yml"

    @property
    def own_optional(self) -> tuple[Option, ...]:
        """The arguments that the role declares itself and that have a default, which may be null."""
        return tuple(option for option in self.own_arguments if not option.required)

    def argument(self, name: str) -> Option | None:
        """Return the argument with the variable name *name*."""
        return next((option for option in self.arguments if option.name == name), None)


@dataclass(frozen=True, slots=True)
class Rule:
    """A condition over several settings; ``test`` is a Jinja expression, ``message`` states what to change."""

    test: str
    message: str
    where: Where


@dataclass(frozen=True, slots=True)
class FlowSpec:
    """A flow: its settings, without the shared ones, and the rules over them."""

    name: str
    short_description: str
    description: tuple[str, ...]
    settings: tuple[Option, ...]
    rules: tuple[Rule, ...]
    path: Path

    def setting(self, name: str) -> Option | None:
        """Return the setting *name*."""
        return next((option for option in self.settings if option.name == name), None)


SHARED_ROLE = "shared_"
"""The prefix of roles that are not commands; commands include them or, for their arguments, depend on them."""
# what a description adds for ansible-doc, which does not list the arguments of shared roles
_SHARED_NOTE = "Accepts the arguments of "
_SHARED_DEPENDENCY = re.compile(rf"^ *- +(?:role: +)?psap\.perf\.({SHARED_ROLE}\w+)", re.MULTILINE)


def read_command(role_directory: Path, root: Path) -> CommandSpec:
    """Return the spec of the command in *role_directory*, with the arguments of the shared roles it depends on.

    Raises:
        UsageError: If a file is missing or an option in it is not well formed; the message has file and line.
    """
    file = read_yaml_file(role_directory / "meta" / "argument_specs.yml", root)
    role = role_directory.name
    main = _mapping(file, "argument_specs", "main")
    own = _options(file, main.get("options"), role, ("argument_specs", "main", "options"))
    return CommandSpec(
        role=role,
        short_description=_text(main.get("short_description")),
        description=tuple(text for text in _texts(main.get("description")) if not text.startswith(_SHARED_NOTE)),
        arguments=(*own, *_shared_arguments(role_directory, root)),
        path=file.path,
    )


def _shared_arguments(role_directory: Path, root: Path) -> Iterator[Option]:
    meta = role_directory / "meta" / "main.yml"
    # a search, since parsing the YAML of all commands takes as long as reading their arguments
    found = _SHARED_DEPENDENCY.findall(meta.read_text(encoding="utf-8")) if meta.is_file() else ()
    for name in found:
        beside = role_directory.with_name(name)
        yield from read_command(beside if beside.is_dir() else _OWN_ROLES / name, root).arguments


Find = Callable[[str], tuple[Option, ...]]
"""Returns the arguments that match a pattern: a name that may have stars."""


def read_flow(path: Path, root: Path, find: Find = lambda _pattern: ()) -> FlowSpec:
    """Return the flow that ``<flow>/settings.yml`` declares, or the shared settings.

    Args:
        path: The file.
        root: The project, to which places are relative.
        find: Returns the arguments that a setting may bind.

    Raises:
        UsageError: As `read_command`.
    """
    file = read_yaml_file(path, root)
    name = path.parent.name
    for key in file.data:
        if key not in ("short_description", "description", "options", "rules"):
            raise UsageError(f"{file.where(key)}: unknown key {key}; a flow's settings belong below options")
    return FlowSpec(
        name=name,
        short_description=_text(file.data.get("short_description")),
        description=_texts(file.data.get("description")),
        settings=_options(file, file.data.get("options"), name, ("options",), find),
        rules=_rules(file),
        path=path,
    )


def section_of(name: str, declared_by: str) -> str:
    """Return the section of a setting: its flow, or the first word of a shared setting's name."""
    return name.partition("_")[0] if declared_by == "shared" else declared_by


def _rules(file: YamlFile) -> tuple[Rule, ...]:
    rules = []
    for index, rule in enumerate(file.data.get("rules") or []):
        where = file.where("rules", index)
        if not isinstance(rule, dict) or set(rule) != {"assert", "message"}:
            raise UsageError(f"{where}: a rule has two keys, assert (a Jinja expression) and message")
        rules.append(Rule(test=str(rule["assert"]), message=str(rule["message"]), where=where))
    return tuple(rules)


def _options(
    file: YamlFile, declared: Any, declared_by: str, path: tuple[str, ...], find: Find | None = None
) -> tuple[Option, ...]:
    if declared is None:
        return ()
    if not isinstance(declared, dict):
        raise UsageError(f"{file.where(*path)}: options must be a mapping of names to their declarations")
    return tuple(_option(file, name, body, declared_by, (*path, name), find) for name, body in declared.items())


def _option(file: YamlFile, name: str, body: Any, declared_by: str, path: tuple[str, ...], find: Find | None) -> Option:
    where = file.where(*path)
    if not isinstance(body, dict):
        raise UsageError(f"{where}: {name} must be declared by a mapping with at least type and description")
    for key in body:
        if key not in _OPTION_KEYS or (key in _OF_SETTINGS and find is None):
            raise UsageError(f"{file.where(*path, key)}: {name} has the unknown key {key}")
    same = () if find is None else _arguments(name, body, find, where)
    if same:
        inherited = {key: value for key in _INHERITED if (value := getattr(same[0], key)) is not None}
        body = {**inherited, "description": list(same[0].description), "choices": same[0].choices, **body}
    kind = body.get("type", "str")
    if kind not in TYPES or body.get("elements", "str") not in TYPES:
        raise UsageError(f"{where}: the type of {name} must be one of {', '.join(TYPES)}")
    if body.get("compare") not in (None, *COMPARE):
        raise UsageError(f"{where}: compare of {name} must be one of {', '.join(COMPARE)}")
    return Option(
        name=name,
        type=kind,
        description=_texts(body.get("description")),
        default=body.get("default"),
        required=bool(body.get("required", False)),
        choices=tuple(body.get("choices") or ()),
        elements=body.get("elements"),
        options=_options(file, body.get("options"), declared_by, (*path, "options"))
        or (same[0].options if same else ()),
        dimension=_dimension(body.get("dimension", False), kind, f"{where}: dimension of {name}"),
        secret=bool(body.get("no_log", same[0].secret if same else False)),
        compare=body.get("compare"),
        section=section_of(name, declared_by),
        where=where,
        arguments=tuple(argument.name for argument in same),
        pull_request=body.get("pull_request", False) is True,
        secret_format=_secret_format(body.get("secret_format", ANYTHING), where, name),
    )


def _arguments(name: str, body: Mapping[str, Any], find: Find, where: Where) -> tuple[Option, ...]:
    """Return the arguments that a setting binds; they have one type, and one default unless the setting declares it."""
    patterns = body.get("argument", [])
    found: list[Option] = []
    for pattern in patterns if isinstance(patterns, list) else [patterns]:
        meant = find(str(pattern))
        if not meant:
            raise UsageError(f"{where}: {name} is bound to the argument {pattern}, which no command has")
        found += meant
    for key in _INHERITED:
        for other in () if key in body else found[1:]:
            # a required argument has no default
            if getattr(other, key) != getattr(found[0], key) and not (key == "default" and other.required):
                raise UsageError(
                    f"{where}: {name} is bound to {found[0].name} and {other.name}, whose {key} differs; declare {key}"
                )
    return tuple(found)


def _secret_format(declared: Any, where: Where, name: str) -> str:
    if declared not in FORMATS:
        raise UsageError(f"{where}: secret_format of {name} must be one of {', '.join(FORMATS)}")
    return str(declared)


def _dimension(declared: Any, kind: str, what: str) -> tuple[str, ...]:
    if declared is True and kind in ("list", "dict"):
        raise UsageError(f"{what} must list the dotted leaves that vary, since a {kind} is itself a value")
    if isinstance(declared, bool):
        return ("",) if declared else ()
    if kind == "dict" and isinstance(declared, list) and all(isinstance(leaf, str) and leaf for leaf in declared):
        return tuple(declared)
    raise UsageError(f"{what} must be true, or for a dict a list of dotted leaves")


def _mapping(file: YamlFile, *keys: str) -> Mapping[str, Any]:
    value: Any = file.data
    for depth, key in enumerate(keys):
        value = value.get(key) if isinstance(value, dict) else None
        if not isinstance(value, dict):
            raise UsageError(f"{file.where(*keys[: depth + 1])}: the mapping {'.'.join(keys[: depth + 1])} is missing")
    return dict(value)


def _text(value: Any) -> str:
    return "" if value is None else str(value).strip()


def _texts(value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    return tuple(str(line).strip() for line in (value if isinstance(value, list) else [value]))


_MARKED = re.compile(r"\b[VCOPEIB]\(((?:[^()]|\([^()]*\))*)\)")


def as_text(description: str) -> str:
    """Return *description* for a terminal, without markup."""
    return _MARKED.sub(lambda match: match[1].partition("#")[0], description)


def as_markdown(description: str) -> str:
    """Return *description* for a page, with markup as code."""
    return _MARKED.sub(lambda match: f"`{match[1].partition('#')[0]}`", description)
