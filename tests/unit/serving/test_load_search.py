"""The search for the highest load: its numbers of users, and the loads that count."""

from __future__ import annotations

from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.base.documents import write_json
from ansible_collections.psap.perf.plugins.module_utils.serving.load_search import Bounds, completed_loads, judge_new
from hypothesis import given
from hypothesis import strategies as st


def search(bounds: Bounds, highest_held: int) -> dict[int, bool]:
    """Return the loads of a search on a server that holds the limits up to *highest_held* users."""
    held: dict[int, bool] = {}
    while (users := bounds.next_users(held)) is not None:
        assert users not in held
        held[users] = users <= highest_held
    return held


@given(st.integers(1, 1000), st.integers(1, 1000), st.integers(0, 2100))
def test_search_finds_the_highest_load(lowest: int, width: int, answer: int) -> None:
    bounds = Bounds(lowest, lowest + width, most_loads=100)
    held = search(bounds, answer)
    assert set(held) <= set(range(bounds.lowest, bounds.highest + 1))
    found = max((users for users, within in held.items() if within), default=0)
    assert found == (0 if answer < bounds.lowest else min(answer, bounds.highest))


@given(st.integers(2, 12), st.integers(0, 2100))
def test_search_keeps_to_the_largest_number_of_loads(most: int, answer: int) -> None:
    assert len(search(Bounds(1, 2000, most), answer)) <= most


@given(st.lists(st.booleans(), min_size=40, max_size=40))
def test_search_ends_despite_noise(answers: list[bool]) -> None:
    bounds, held = Bounds(1, 500, most_loads=40), dict[int, bool]()
    while (users := bounds.next_users(held)) is not None:
        assert users not in held
        held[users] = answers[len(held)]
    assert len(held) < 40


def test_search_of_64_users_needs_at_most_ten_loads() -> None:
    assert max(len(search(Bounds(1, 64, 100), answer)) for answer in range(70)) <= 10


def test_only_new_loads_are_judged() -> None:
    asked = []

    def judge(path: Path) -> dict[str, int]:
        asked.append(path.name)
        return {"users": 4}

    rows = judge_new([Path("run/001__load"), Path("run/002__load")], {"run/001__load": {"users": 1}}, judge)
    assert rows == {"run/001__load": {"users": 1}, "run/002__load": {"users": 4}}
    assert asked == ["002__load"]


def test_only_successful_loads_of_the_cell_count(tmp_path: Path) -> None:
    for number, (role, cell, status) in enumerate(
        [
            ("serving_run_load", 0, "ok"),
            ("llm_load_test_run", 0, "ok"),
            ("serving_run_load", 1, "ok"),
            ("serving_run_load", 0, "interrupted"),
            ("kserve_deploy_model", 0, "ok"),
        ]
    ):
        place = tmp_path / f"001__cell__{cell}" / f"{number:03d}__command"
        place.mkdir(parents=True)
        write_json(place / "status.json", {"role": role, "cell": cell, "status": status})
    assert [path.name for path in completed_loads(tmp_path, 0)] == ["000__command", "001__command"]
