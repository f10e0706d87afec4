"""Files of queries."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.prometheus.query_file import (
    NamedQuery,
    read_files,
    read_queries,
)

ROLE = Path(__file__).parents[3] / "collections/ansible_collections/psap/perf/roles/cluster_query_prometheus_db"
FILE = """\
## What this file is about.

# up
up{job="#1"}
# memory, of
# Memory by pod (GiB)
sum by (pod) (
# that of the test
container_memory{namespace="$NAMESPACE"}
) / 2^30

# last/one
rate(x_total[1m])
"""


# a metric with a range, or a pattern of names
_METRIC = re.compile(r"""(?:rate\(|__name__=~")([a-z_:|()?]+)["{\[]""")


def _read(tmp_path: Path, text: str, namespace: str = "tuning") -> list[NamedQuery]:
    path = tmp_path / "metrics.txt"
    path.write_text(text)
    return read_queries(path, namespace)


def test_names_comments_lines_and_the_last_query(tmp_path: Path) -> None:
    assert _read(tmp_path, FILE) == [
        NamedQuery("up", 'up{job="#1"}'),
        NamedQuery(
            "Memory by pod (GiB)",
            'sum by (pod) (\n# that of the test\ncontainer_memory{namespace="tuning"}\n) / 2^30',
        ),
        NamedQuery("last/one", "rate(x_total[1m])"),
    ]


def test_names_are_escaped_for_files() -> None:
    names = ["up", "last/one", "Memory by pod (GiB)", "..", "a%2Fb", "a/b", "über"]
    files = [NamedQuery(name, "x").file for name in names]
    assert files[:2] == ["up.json", "last%2Fone.json"]
    assert len(set(files)) == len(names)
    assert not any("/" in file for file in files)
    assert NamedQuery("..", "x").file == "...json"


@pytest.mark.parametrize(
    ("expression", "bare"),
    [
        ("DCGM_FI_DEV_GPU_UTIL", True),
        ('DCGM_FI_DEV_GPU_UTIL{gpu="0"}', True),
        ('{__name__=~"DCGM_.+"}', True),
        ('up{job="a)b"}', True),
        ('up{job="a"} > 0', False),
        ("sum(up)", False),
        ("up[5m]", False),
        ("1 + 1", False),
    ],
)
def test_scraped_series_are_distinguished_from_computed_ones(expression: str, bare: bool) -> None:
    assert NamedQuery("x", expression).bare is bare


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("up\n", r"metrics.txt:1: a query without a name"),
        ("# a\nup\n# b\n", r"metrics.txt:3: no query follows the name 'b'"),
        ("# a\nup\n# a\nup\n", r"metrics.txt:3: the name 'a' is used above"),
        ("#\nup\n", r"metrics.txt:1: the name of the query is empty"),
        ("# a\n## kpi less: mean\nup\n", r"metrics.txt:2: invalid KPIs; write a line such as"),
        ("## kpi lower: mean\n# a\nup\n", r"metrics.txt:1: KPIs without a query"),
        ("# a\nup\n## kpi lower: mean\n", r"metrics.txt:3: KPIs without a query"),
        ("# a\n## kpi lower: p50\nup\n", r"metrics.txt:1: no KPI 'p50': the query 'a' has values over time; use min,"),
        ("# a\n## kpi lower: mean\nrate(x[$WINDOW])\n", r"no KPI 'mean': the query 'a' contains \$WINDOW; use value"),
        ("# a\nsum(up\n# b\nup\n", r"metrics.txt:1: the query 'a' has unclosed brackets"),
        ("## nothing\n", "has no query"),
    ],
)
def test_invalid_query_file_is_refused_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        _read(tmp_path, text)


def test_namespace_query_requires_a_namespace(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r":6: the query 'Memory by pod \(GiB\)' contains \$NAMESPACE"):
        _read(tmp_path, FILE, namespace="")


def test_missing_query_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        read_queries(tmp_path / "none.txt", "x")


def test_declared_kpis_belong_to_their_query(tmp_path: Path) -> None:
    text = "# a\n## kpi lower: mean,  max\n## A comment.\nup\n\n# b\nup\n# c\n## kpi higher: value\nrate(x[$WINDOW])\n"
    assert _read(tmp_path, text) == [
        NamedQuery("a", "up", ("mean", "max"), "lower"),
        NamedQuery("b", "up"),
        NamedQuery("c", "rate(x[$WINDOW])", ("value",), "higher"),
    ]


def test_variables_are_replaced_when_their_values_are_known(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text('# a\nx{m=~"$MODEL", n=~"$NAMESPACE"}[$RANGE]\n# b\nrate(x[$WINDOW])\n')
    (ranged, whole) = read_queries(path, "n1|n2", "phi")
    assert (ranged.needs_range, ranged.of_whole_window, whole.of_whole_window) == (True, False, True)
    assert ranged.within(60, 8).expression == 'x{m=~"phi", n=~"n1|n2"}[8000ms]'
    assert whole.within(60.25, 8).expression == "rate(x[60250ms])"
    assert read_queries(path, "n")[0].expression == 'x{m=~".*", n=~"n"}[$RANGE]'


def test_files_with_a_query_of_the_same_name_are_refused(tmp_path: Path) -> None:
    paths = [tmp_path / "a.txt", tmp_path / "b.txt"]
    for path in paths:
        path.write_text("# up\nup\n")
    with pytest.raises(UsageError, match=r"b.txt: .*a.txt has a query 'up' too; choose another name"):
        read_files(paths, "")


@pytest.mark.parametrize("path", sorted((ROLE / "files").glob("*.txt")), ids=lambda path: path.stem)
def test_shipped_queries_read_native_histograms_too(path: Path) -> None:
    queries = [each.expression for each in read_queries(path, "tuning", "model")]
    for expression in filter(re.compile(r"histogram_quantile").search, queries):
        classic = {name.removesuffix("_bucket") for name in _METRIC.findall(expression) if name.endswith("_bucket")}
        native = {name for name in _METRIC.findall(expression) if not name.endswith("_bucket")}
        assert classic == native, expression


def test_shipped_files_are_the_layers_of_the_command() -> None:
    specs = yaml.safe_load((ROLE / "meta/argument_specs.yml").read_text())["argument_specs"]["main"]["options"]
    files = sorted(path for path in (ROLE / "files").glob("*.txt"))
    assert ["metrics", *specs["cluster_query_prometheus_db_layers"]["choices"]] == sorted(
        (path.stem for path in files), key=lambda stem: (stem != "metrics", stem)
    )
    assert len(read_files(files, ".*")) > 100
