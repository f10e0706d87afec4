"""The model and the reader of a `product.yaml`: every mistake has its file and line."""

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
    """A `product.yaml` is invalid, or cannot be applied to an object. The message has its place."""


class Read(msgspec.Struct, forbid_unknown_fields=True):
    """Other objects that a rule reads: all of a kind; a change of one of them reconciles the rule's object.

    Attributes:
        labels: Only objects that this label selector selects.
        name: Only the object of that name.
        match: For `item`, the name (`NAMESPACE/NAME`) of the rule's object that it concerns: each sees its own.
        value: The part of `item` that the rule sees, instead of the whole object; only a change of it counts.
        triggers: Whether a change reconciles the rule's object.
    """

    kind: str
    labels: str = ""
    name: str = ""
    match: str = ""
    value: Any = None
    triggers: bool = True


class StepUse(msgspec.Struct, forbid_unknown_fields=True):
    """The use of a declared step in a rule; one for each `item` of *loop* if set.

    Attributes:
        when: Whether the delayed action is still to be done: the step begins when this becomes true.
        object: The step's OBJECT, if it is not the name of the rule's object.
        delay: Default delay in seconds, for example as the object states.
    """

    when: str = "true"
    loop: Any = None
    object: str = ""
    delay: Any = 0


class Child(msgspec.Struct, forbid_unknown_fields=True):
    """An object that is created, corrected after changes by others, and deleted when *when* is false.

    An object of that name with another controller is left unchanged.

    Attributes:
        labels: A label selector that selects it: only selected objects of such a kind are watched.
        wait: While this is true, it is left as it is: absent, for example.
        owned: Whether the rule's object owns it, so that it is deleted with that.
        keep: Whether it stays when *when* is false, and when the rule's object is deleted.
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

    Attributes:
        loop: The objects to change instead, each an `item` with `apiVersion`, `kind` and `metadata.name`; it applies at
            each reconciliation, so it should only list objects without the change.
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

    Attributes:
        about: What of it is emulated and what is not.
        operators: Packages of Operator Lifecycle Manager: the rules apply while the operator of one of them runs.
        steps: Steps that can be delayed or fail, with descriptions.
        functions: A Python module whose `FUNCTIONS` the templates can call.
        vars: Names for values that do not change.
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
        """Return the place of the value at *path*: `operators/nfd/product.yaml:12`."""
        return _place(self.path, self.root, path)


def load(path: Path) -> ProductFile:
    """Return the product that a file describes.

    Raises:
        ProductError: Invalid YAML, an unknown field, or a value of another type.
    """
    try:
        root = yaml.compose(path.read_bytes(), Loader)
        # the composed nodes have the lines, and the data are constructed from them
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
