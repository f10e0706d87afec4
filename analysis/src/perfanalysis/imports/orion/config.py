"""Read an orion config: its tests, with what they inherit from parentConfig, metricsFile and local files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perfanalysis.errors import UsageError
from perfanalysis.files.documents import listing, mapping
from perfanalysis.imports.orion.metrics import Metric, expanded, metric_of
from perfanalysis.imports.orion.template import Located, read_template


@dataclass(frozen=True)
class OrionTest:
    """One test. `metadata` says which runs of orion's index it is about; `not` and `wildcard` are keys of it."""

    name: str
    metadata: Mapping[str, Any]
    metrics: tuple[Metric, ...]
    version_field: str

    def by_column(self, column: str) -> Metric | None:
        """The metric with that column in orion's output."""
        return next((metric for metric in self.metrics if metric.column == column), None)


def read_config(path: Path, variables: Mapping[str, Any]) -> tuple[OrionTest, ...]:
    """All tests of a config. Raises UsageError naming file and line of what is wrong."""
    loaded = read_template(path, variables)
    tests = loaded.get("tests") if isinstance(loaded, dict) else None
    if not isinstance(tests, list) or not tests:
        raise UsageError(f"{path}: it is no orion config: it has no list of tests")
    files = _Files(path.parent, variables)
    inherited = files.metadata(loaded.get("parentConfig")), files.metrics(loaded.get("metricsFile"))
    return tuple(_test(test, number, inherited, files, path) for number, test in enumerate(tests, start=1))


def chosen_test(tests: tuple[OrionTest, ...], name: str | None, path: Path) -> OrionTest:
    """The test of that name; without one, the only one. Raises UsageError naming those that there are."""
    found = [test for test in tests if name in (None, test.name)]
    if len(found) != 1:
        names = ", ".join(test.name for test in tests)
        raise UsageError(f"{path} has the tests {names}; name one by --orion-test")
    return found[0]


@dataclass(frozen=True)
class _Files:
    """Files that a config refers to, relative to its own folder."""

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
    """Both, without those below that have the same name and metricName as one above."""
    names = {_identity(metric) for metric, _ in above}
    return [entry for entry in below if _identity(entry[0]) not in names] + above


def _identity(metric: Located) -> tuple[str, str]:
    return str(metric.get("name")), str(metric.get("metricName", metric.get("metricName.keyword")))


def _check(metrics: tuple[Metric, ...], place: str) -> None:
    columns = Counter(metric.column for metric in metrics)
    twice = [column for column, count in columns.items() if count > 1]
    if twice:
        raise UsageError(f"{place}: the column {twice[0]} comes from {columns[twice[0]]} metrics; rename one")
    for metric in metrics:
        if metric.correlation is not None and metric.correlation not in columns:
            known = ", ".join(listing(sorted(columns)))
            raise UsageError(
                f"{place}: metric {metric.name}: correlation {metric.correlation} is none of its columns: {known}"
            )
