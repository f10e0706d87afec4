"""Files of queries."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.prometheus.query_file import NamedQuery, read_queries

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
