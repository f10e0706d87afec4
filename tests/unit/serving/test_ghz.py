"""Results of ghz, valid and invalid."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import DataQualityError
from ansible_collections.psap.perf.plugins.module_utils.serving.grpc.ghz import count_requests

REAL = Path(__file__).parents[2] / "data/foreign/load_tests/ghz-0.121.0.json"


def write_result(folder: Path, answered: int, errors: dict[str, int]) -> Path:
    path = folder / "ghz.json"
    codes = ({"OK": answered} if answered else {}) | ({"Unavailable": sum(errors.values())} if errors else {})
    document: dict[str, Any] = {"count": sum(codes.values()), "statusCodeDistribution": codes}
    path.write_text(json.dumps(document | {"errorDistribution": errors}))
    return path


def test_failed_calls_are_counted_and_refused_if_required(tmp_path: Path) -> None:
    path = write_result(tmp_path, 6, {"rare": 1, "no healthy upstream": 3})
    assert count_requests(path, complete=False) == (10, 4)
    with pytest.raises(DataQualityError, match="4 of 10 calls failed; most of them: no healthy upstream"):
        count_requests(path, complete=True)
    assert count_requests(write_result(tmp_path, 6, {}), complete=True) == (6, 0)


def test_only_failures_are_no_result(tmp_path: Path) -> None:
    with pytest.raises(DataQualityError, match="2 of 2 calls failed; most of them: no such model"):
        count_requests(write_result(tmp_path, 0, {"no such model": 2}), complete=False)
    with pytest.raises(DataQualityError, match="no call ended"):
        count_requests(write_result(tmp_path, 0, {}), complete=False)


@pytest.mark.parametrize("text", ["", "[]", '{"count": 1, "statusCode', '{"count": 1}', '{"count": null}'])
def test_invalid_result_is_reported(tmp_path: Path, text: str) -> None:
    (tmp_path / "ghz.json").write_text(text)
    with pytest.raises(DataQualityError, match=r"ghz\.json is not a result of ghz, or is cut off"):
        count_requests(tmp_path / "ghz.json", complete=False)


def test_result_of_real_ghz_is_counted() -> None:
    """The server refused some of the calls."""
    calls, failed = count_requests(REAL, complete=False)
    assert (calls, failed) == (160, 10)
    with pytest.raises(DataQualityError, match=r"10 of 160 calls failed; most of them: .*no healthy upstream"):
        count_requests(REAL, complete=True)
