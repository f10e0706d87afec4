"""orion's configuration: tests with their metrics, from a YAML file with Jinja2 variables."""

from __future__ import annotations

import copy
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import yaml

from perfanalysis.errors import UsageError
from perfanalysis.files.bounded_yaml import check_bounds
from perfanalysis.files.documents import any_number, listing, mapping
from perfanalysis.workloads.kpis import Direction


class Located(dict[str, Any]):
    """A mapping with the line at which it begins, from 1."""

    line: int = 0


class _Loader(yaml.SafeLoader):
    """A safe loader that records lines."""


def _mapping(loader: _Loader, node: yaml.MappingNode) -> Located:
    loader.flatten_mapping(node)
    found = Located((str(key), value) for key, value in loader.construct_mapping(node, deep=True).items())
    found.line = node.start_mark.line + 1
    return found


_Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


def read_template(path: Path, variables: Mapping[str, Any]) -> Any:
    """Return the file's value with its `{{ variables }}` replaced: by *variables*, else by the environment's in lower
    case.

    The template is rendered in Jinja2's sandbox. Raises UsageError with file and line.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        raise UsageError(f"cannot read {path}: {error}") from error
    rendered = _rendered(text, {**{name.lower(): text for name, text in os.environ.items()}, **variables}, path)
    try:
        check_bounds(rendered)
        return yaml.load(rendered, Loader=_Loader)  # noqa: S506 - derived from the safe loader
    except yaml.MarkedYAMLError as error:
        line = "" if error.problem_mark is None else f":{error.problem_mark.line + 1}"
        raise UsageError(f"{path}{line}: invalid YAML: {error.problem or error.context}") from error
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        raise UsageError(f"{path}: invalid YAML: {' '.join(str(error).split())}") from error


def _rendered(text: str, variables: Mapping[str, Any], path: Path) -> str:
    if "{" not in text:
        return text
    import jinja2
    from jinja2.sandbox import SandboxedEnvironment

    environment = SandboxedEnvironment(undefined=jinja2.StrictUndefined, autoescape=False)
    try:
        return environment.from_string(text).render(variables)
    except jinja2.UndefinedError as error:
        hint = "pass it with --orion-vars, or in the environment in upper case"
        raise UsageError(f"{path}: missing variable: {error.message}; {hint}") from error
    except jinja2.TemplateSyntaxError as error:
        raise UsageError(f"{path}:{error.lineno}: invalid Jinja2 template: {error.message}") from error
    except Exception as error:  # an expression of a template can raise any error
        raise UsageError(f"{path}: cannot render the template: {type(error).__name__}: {error}") from error


def read_variables(text: str | None) -> Mapping[str, Any]:
    """Parse a JSON object of variables for the templates; empty for None. Raises UsageError."""
    if text is None:
        return {}
    try:
        loaded = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"--orion-vars is not JSON: {error}") from error
    if not isinstance(loaded, dict):
        raise UsageError('--orion-vars must be a JSON object, such as {"version": "4.20"}')
    return loaded


AGGREGATES = ("avg", "sum", "max", "min", "count", "percentiles")
TARGET_PERCENTILE = 95.0
CONTEXT = 5
BOTH, INCREASES, DECREASES = 0, 1, -1
RESERVED = frozenset(
    (
        *("acceptable_range", "agg", "context", "correlation", "direction", "dry_run", "fan_out", "group_by", "labels"),
        *("metric_of_interest", "name", "not", "threshold", "timestamp", "type"),
    )
)
"""Keys with a meaning; every other key of a metric is a field that documents must have with that value."""
NOT_DONE: Mapping[str, str] = {
    "acceptable_range": "use `perfanalysis judge` for a range of values",
    "dry_run": "every metric is judged",
    "group_by": "its values are only in orion's index: declare a metric for each, or import orion's JSON",
}
_PLACEHOLDER = re.compile(r"\$\{(\w+)\}")
_WORDS = re.compile(r"[A-Z]+\d*(?![a-z])|[A-Z]?[a-z]+\d*|\d+[a-z]*")


@dataclass(frozen=True)
class Metric:
    """One metric. `fields` are what its documents must have, `without` what they must not have, by dotted names."""

    name: str
    line: int
    fields: Mapping[str, Any]
    without: Mapping[str, tuple[Any, ...]]
    of_interest: str
    aggregate: str | None
    percentile: float
    direction: int
    threshold: float
    """Percent of the previous level; smaller changes do not matter."""
    labels: tuple[str, ...]
    correlation: str | None
    context: int
    carried: bool
    """Whether it is only reported, not judged."""
    not_done: tuple[str, ...]
    """What it requests that is not supported, and what to do instead."""

    @property
    def column(self) -> str:
        """Return the column's name in orion's output."""
        return f"{self.name}_{self.aggregate or self.of_interest}"

    @property
    def metric_name(self) -> str | None:
        """Return the kind of documents: `podLatencyQuantilesMeasurement`, `containerCPU`, …"""
        found = self.fields.get("metricName", self.fields.get("metricName.keyword"))
        return None if found is None else str(found)

    @property
    def better(self) -> Direction | Literal["either"]:
        """Return which direction is better: orion's direction states which is worse."""
        if self.direction == BOTH:
            return "either"
        return "lower" if self.direction == INCREASES else "higher"


def kpi_name(column: str) -> str:
    """Return the KPI's name: `podReadyLatency_P99` becomes `pod_ready_latency_p99`, `apiserverCPU_avg` becomes
    `apiserver_cpu_avg`.

    A column's name does not depend on other columns. Empty if it has no letter and no digit.
    """
    name = "_".join(word.lower() for word in _WORDS.findall(column))
    return f"m_{name}" if name[:1].isdigit() else name


def expanded(metric: Located, where: str) -> list[Located]:
    """Return one metric for each entry of its `fan_out`, `${name}` replaced by the entry's value; else the metric
    itself.
    """
    if "fan_out" not in metric:
        return [metric]
    entries = metric["fan_out"]
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise UsageError(f"{where}:{metric.line}: fan_out must be a list of mappings")
    found = []
    for entry in entries:
        reserved = sorted(RESERVED & entry.keys())
        if reserved:
            raise UsageError(f"{where}:{metric.line}: fan_out cannot set {', '.join(reserved)}")
        made = Located(_replaced({key: value for key, value in metric.items() if key != "fan_out"}, entry))
        made.update({key: value for key, value in entry.items() if key in made})
        made.line = metric.line
        found.append(made)
    return found


def _replaced(value: Any, values: Mapping[str, Any]) -> Any:
    if isinstance(value, str):
        return _PLACEHOLDER.sub(lambda match: str(values.get(match[1], match[0])), value)
    if isinstance(value, dict):
        return {key: _replaced(part, values) for key, part in value.items()}
    if isinstance(value, list):
        return [_replaced(part, values) for part in value]
    return copy.copy(value)


def metric_of(given: Located, defaults: Mapping[str, Any], where: str) -> Metric:
    """Return the metric; `defaults` are those of its test. Raises UsageError with file, line and key."""
    place = f"{where}:{given.line}"
    name = given.get("name")
    if not isinstance(name, str) or not name:
        raise UsageError(f"{place}: a metric needs a name")
    place += f": metric {name}"
    aggregate, percentile = _aggregate(given.get("agg"), place)
    of_interest = given.get("metric_of_interest")
    if of_interest is None and aggregate is None:
        raise UsageError(f"{place}: it needs metric_of_interest or agg")
    correlation = given.get("correlation") or None
    labels = given.get("labels")
    return Metric(
        name=name,
        line=given.line,
        fields={key: value for key, value in given.items() if key not in RESERVED},
        without=_without(given.get("not"), place),
        of_interest=str(of_interest or ""),
        aggregate=aggregate,
        percentile=percentile,
        direction=int(_bounded(given, "direction", INCREASES, (BOTH, INCREASES, DECREASES).__contains__, place)),
        threshold=_bounded(given, "threshold", defaults.get("threshold", 0), lambda value: value >= 0, place),
        labels=tuple(map(str, labels)) if isinstance(labels, list) else (),
        correlation=None if correlation is None else str(correlation),
        context=int(_bounded(given, "context", CONTEXT, lambda value: value >= 0, place)),
        carried=given.get("type") == "metadata",
        not_done=tuple(f"{key} of {name}: {why}" for key, why in NOT_DONE.items() if given.get(key)),
    )


def _aggregate(given: object, place: str) -> tuple[str | None, float]:
    if given is None:
        return None, TARGET_PERCENTILE
    kind = given.get("agg_type") if isinstance(given, dict) else None
    if not isinstance(given, dict) or kind not in AGGREGATES:
        raise UsageError(f"{place}: agg needs agg_type, one of {', '.join(AGGREGATES)}; not {kind!r}")
    target = given.get("target_percentile", TARGET_PERCENTILE)
    if isinstance(target, bool) or not isinstance(target, int | float) or not 0 < target <= 100:
        raise UsageError(f"{place}: target_percentile must be above 0 and at most 100, not {target!r}")
    return str(kind), float(target)


def _without(given: object, place: str) -> Mapping[str, tuple[Any, ...]]:
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise UsageError(f"{place}: not must be a mapping of fields to values")
    return {str(name): tuple(value) if isinstance(value, list) else (value,) for name, value in given.items()}


def _bounded(given: Located, key: str, default: object, accepted: Callable[[float], bool], place: str) -> float:
    value = given.get(key, default)
    number = any_number(value)
    if number is None or not accepted(number):
        allowed = {"direction": "1, 0 or -1"}.get(key, "a number, 0 or more")
        raise UsageError(f"{place}: {key} must be {allowed}, not {value!r}")
    return number


@dataclass(frozen=True)
class OrionTest:
    """One test. `metadata` describes the runs of orion's index; `not` and `wildcard` are keys of it."""

    name: str
    metadata: Mapping[str, Any]
    metrics: tuple[Metric, ...]
    version_field: str

    def by_column(self, column: str) -> Metric | None:
        """Return the metric with that column in orion's output."""
        return next((metric for metric in self.metrics if metric.column == column), None)


def read_config(path: Path, variables: Mapping[str, Any]) -> tuple[OrionTest, ...]:
    """Return all tests of a config. Raises UsageError with file and line."""
    loaded = read_template(path, variables)
    tests = loaded.get("tests") if isinstance(loaded, dict) else None
    if not isinstance(tests, list) or not tests:
        raise UsageError(f"{path}: not an orion config: no list of tests")
    files = _Files(path.parent, variables)
    inherited = files.metadata(loaded.get("parentConfig")), files.metrics(loaded.get("metricsFile"))
    return tuple(_test(test, number, inherited, files, path) for number, test in enumerate(tests, start=1))


def chosen_test(tests: tuple[OrionTest, ...], name: str | None, path: Path) -> OrionTest:
    """Return the test of that name; without one, the only test. Raises UsageError with the known names."""
    found = [test for test in tests if name in (None, test.name)]
    if len(found) != 1:
        names = ", ".join(test.name for test in tests)
        raise UsageError(f"{path} has the tests {names}; choose one with --orion-test")
    return found[0]


@dataclass(frozen=True)
class _Files:
    """Return the files that a config refers to, relative to its own folder."""

    folder: Path
    variables: Mapping[str, Any]

    def metadata(self, name: object) -> Mapping[str, Any]:
        if name is None:
            return {}
        path = self.folder / str(name)
        found = read_template(path, self.variables)
        if not isinstance(found, dict) or not isinstance(found.get("metadata", {}), dict):
            raise UsageError(f"{path}: it must be a mapping with metadata")
        return mapping(found.get("metadata"))

    def metrics(self, name: object) -> list[tuple[Located, str]]:
        if name is None:
            return []
        path = self.folder / str(name)
        return _located(read_template(path, self.variables), path)


def _located(found: object, path: Path) -> list[tuple[Located, str]]:
    if not isinstance(found, list) or not all(isinstance(one, Located) for one in found):
        raise UsageError(f"{path}: metrics must be a list of mappings")
    return [(one, str(path)) for one in found]


def _test(
    test: object,
    number: int,
    inherited: tuple[Mapping[str, Any], list[tuple[Located, str]]],
    files: _Files,
    path: Path,
) -> OrionTest:
    if not isinstance(test, Located) or not isinstance(test.get("name"), str):
        raise UsageError(f"{path}: test {number} must be a mapping with a name")
    parent = {} if test.get("IgnoreGlobal") else inherited[0]
    shared = [] if test.get("IgnoreGlobalMetrics") else inherited[1]
    metadata = {**parent, **files.metadata(test.get("local_config")), **mapping(test.get("metadata"))}
    own = _located(test.get("metrics") or [], path)
    given = _overridden(shared, _overridden(files.metrics(test.get("local_metrics")), own))
    metrics = tuple(metric_of(one, test, where) for metric, where in given for one in expanded(metric, where))
    _check(metrics, f"{path}:{test.line}: test {test['name']}")
    return OrionTest(test["name"], metadata, metrics, str(test.get("version_field", "ocpVersion")))


def _overridden(below: list[tuple[Located, str]], above: list[tuple[Located, str]]) -> list[tuple[Located, str]]:
    """Return both, except metrics of *below* that have the same name and metricName as one of *above*."""
    names = {_identity(metric) for metric, _ in above}
    return [entry for entry in below if _identity(entry[0]) not in names] + above


def _identity(metric: Located) -> tuple[str, str]:
    return str(metric.get("name")), str(metric.get("metricName", metric.get("metricName.keyword")))


def _check(metrics: tuple[Metric, ...], place: str) -> None:
    columns = Counter(metric.column for metric in metrics)
    twice = [column for column, count in columns.items() if count > 1]
    if twice:
        raise UsageError(f"{place}: {columns[twice[0]]} metrics have the column {twice[0]}; rename one")
    for metric in metrics:
        if metric.correlation is not None and metric.correlation not in columns:
            known = ", ".join(listing(sorted(columns)))
            raise UsageError(
                f"{place}: metric {metric.name}: correlation {metric.correlation} is not one of its columns: {known}"
            )
