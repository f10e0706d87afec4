"""The fragment of the changelog that a change of released files needs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.scripts.changed import without_fragment

FRAGMENTS = Path("collections/ansible_collections/psap/perf/changelogs/fragments")


@pytest.mark.parametrize(
    "path",
    ["driver/src/perfdrv/cli.py", "playbooks/flow.yml", "collections/ansible_collections/psap/perf/meta/groups.yml"],
)
def test_released_file_needs_a_fragment(path: str, tmp_path: Path) -> None:
    fragment = FRAGMENTS / "mine.yaml"
    assert without_fragment([path], tmp_path) == [path]
    # a change that removes a fragment still needs one
    assert without_fragment([path, str(fragment)], tmp_path) == [path]
    (tmp_path / FRAGMENTS).mkdir(parents=True)
    (tmp_path / fragment).touch()
    assert without_fragment([path, str(fragment)], tmp_path) == []


def test_files_that_no_release_contains_need_no_fragment(tmp_path: Path) -> None:
    paths = [
        "tests/unit/test_links.py",
        "docs/lab.md",
        "molecule/nfd/verify.yml",
        str(FRAGMENTS.parent / "config.yaml"),
    ]
    assert without_fragment(paths, tmp_path) == []
