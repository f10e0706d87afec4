"""What a `product.yaml` may say, and the reading of one: every mistake has its file and line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import yaml

from perflab.errors import LabError
from perflab.files.bounded_yaml import Loader

Path_ = tuple[str | int, ...]


class ProductError(LabError):
    """A `product.yaml` is wrong, or what it says cannot be done for an object. The message has its place."""


class Read(msgspec.Struct, forbid_unknown_fields=True):
    """Other objects that a rule looks at: a list of those of a kind, which is reconciled when one of them changes.

    :param labels: only those that this label selector selects.
    :param name: only the one of that name.
    :param match: of `item`, the name (`NAMESPACE/NAME`) of the rule's object that it concerns: each sees its own.
    :param value: what of `item` the rule sees, instead of the whole object; only a change of that counts.
    :param triggers: whether a change leads to a reconciliation.
    """

    kind: str
    labels: str = ""
    name: str = ""
    match: str = ""
    value: Any = None
    triggers: bool = True


class StepUse(msgspec.Struct, forbid_unknown_fields=True):
    """Where a declared step stands in a rule; for each `item` of *loop* where there is one.

    :param when: whether what it delays is still to be done: the step begins when this becomes true.
    :param object: the step's OBJECT, when it is not the name of the rule's object.
    :param delay: seconds that it takes when the lab sets nothing, as the object says for example.
    """

    when: str = "true"
    loop: Any = None
    object: str = ""
    delay: Any = 0


class Child(msgspec.Struct, forbid_unknown_fields=True):
    """An object that is created, corrected when somebody changes it, and deleted when *when* is false.

    One of that name that another object controls is left alone.

    :param labels: a label selector that selects it: of such a kind only what is selected is watched.
    :param wait: while this is true, it is left as it is: absent, for example.
    :param owned: whether the rule's object owns it, and it is deleted with that.
    :param keep: whether it stays when *when* is false, and when the rule's object is deleted.
    """

    object: Any
    id: str = ""
    labels: str = ""
    loop: Any = None
    when: str = "true"
    wait: str = "false"
    owned: bool = True
    keep: bool = False


class Patch(msgspec.Struct, forbid_unknown_fields=True):
    """A change of the rule's object itself, as a merge patch.

    :param loop: the objects that are changed instead, each an `item` with `apiVersion`, `kind` and `metadata.name`;
        each time that the rule is looked at, so only those that lack the change.
    """

    object: Any
    loop: Any = None
    when: str = "true"


class Condition(msgspec.Struct, forbid_unknown_fields=True):
    """A condition of the object's status: True while *when* is."""

    type: str
    when: str
    reason: str
    message: str = ""
    loop: Any = None


class Event(msgspec.Struct, forbid_unknown_fields=True):
    """An Event about the object, created once for each reason and message."""

    when: str
    reason: str
    message: str
    type: str = "Normal"


class Metrics(msgspec.Struct, forbid_unknown_fields=True):
    """A page of metrics, which the lab's Prometheus scrapes while *when* is true; *labels* of the target."""

    page: str
    when: str = "true"
    labels: dict[str, str] = {}


class Rule(msgspec.Struct, forbid_unknown_fields=True):
    """What is done for each object of a kind; see docs/lab.md for each field."""

    kind: str = msgspec.field(name="for")
    labels: str = ""
    name: str = ""
    always: bool = False
    reads: dict[str, Read] = {}
    vars: dict[str, Any] = {}
    when: str = "true"
    steps: dict[str, StepUse] = {}
    finalizer: str = ""
    finalized: str = "true"
    children: list[Child] = []
    patches: list[Patch] = []
    status: Any = None
    conditions: list[Condition] = []
    events: list[Event] = []
    deletes: list[str] = []
    metrics: list[Metrics] = []


class Product(msgspec.Struct, forbid_unknown_fields=True):
    """A product.

    :param about: what of it is emulated and what is not.
    :param operators: packages of Operator Lifecycle Manager: the rules act while the operator of one of them runs.
    :param steps: what can be delayed or fail, and what each is.
    :param functions: a module of Python whose `FUNCTIONS` the templates can call.
    :param vars: names for values that do not change.
    """

    about: str
    rules: list[Rule]
    operators: list[str] = []
    steps: dict[str, str] = {}
    numbers: dict[str, str] = {}
    functions: str = ""
    vars: dict[str, Any] = {}


@dataclass(frozen=True, slots=True)
class ProductFile:
    """A product and the lines of its file."""

    path: Path
    product: Product
    root: yaml.Node

    def place(self, path: Path_) -> str:
        """Where the value at *path* stands: `operators/nfd/product.yaml:12`."""
        return _place(self.path, self.root, path)


def load(path: Path) -> ProductFile:
    """The product that a file describes.

    :raises ProductError: it is no YAML, or has a field that is none, or a value of another type.
    """
    try:
        root = yaml.compose(path.read_bytes(), Loader)
        # what is composed has the lines, and the data are constructed from it
        data = yaml.SafeLoader("").construct_document(root) if root is not None else None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else 1
        raise ProductError(f"{_shown(path)}:{line}: {getattr(error, 'problem', error)}") from error
    if root is None:
        raise ProductError(f"{_shown(path)}:1: the file is empty")
    try:
        product = msgspec.convert(data, Product)
    except msgspec.ValidationError as error:
        message, _, place = str(error).partition(" - at `$")
        raise ProductError(f"{_place(path, root, _parsed(place))}: {message}") from error
    return ProductFile(path, product, root)


def _shown(path: Path) -> str:
    return "/".join(path.parts[-3:])


def _parsed(place: str) -> Path_:
    found = re.findall(r"\.(\w+)|\[(\d+)\]", place)
    return tuple(int(index) if index else name for name, index in found)


def _place(path: Path, root: yaml.Node, steps: Path_) -> str:
    node = root
    for step in steps:
        below = _below(node, step)
        if below is None:
            break
        node = below
    return f"{_shown(path)}:{node.start_mark.line + 1}"


def _below(node: yaml.Node, step: str | int) -> yaml.Node | None:
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        found: yaml.Node = node.value[step]
        return found
    if isinstance(node, yaml.MappingNode):
        return next((value for key, value in node.value if key.value == str(step)), None)
    return None
