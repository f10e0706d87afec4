"""Run the tests of the files that changed: `python -m tests.scripts.changed [COMMIT] [--show|--lint|--changelog]`.

`make test-changed` calls it. COMMIT defaults to the branch's merge base with main, on main itself to the commit
before. Changed files are those that differ from it, and untracked ones. The table below lists the tests of a file; all
unit tests run for a file that is not listed. With `--lint`, which `make lint` calls, ansible-lint checks the
files and no test runs. With `--changelog`, which a pull request calls, one of the files must be a fragment of the
changelog if users get another one.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import yaml

PROJECT = Path(__file__).resolve().parents[2]
_COLLECTION = "collections/ansible_collections/psap/perf"
# groups of commands that have a scenario; a longer name first, since nfd is a prefix of nfd_operator
_GROUPS = sorted((path.parent.name for path in PROJECT.glob("molecule/*/molecule.yml")), reverse=True)
# a file's path → tests (of tests/), molecule's scenarios as molecule/NAME; \1 is what the first group matched
_TABLE: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"tests/((?:unit|integration|browser|fuzz|release)/.*test_\w+\.py)", (r"\1",)),
    (r"tests/((?:unit|integration)/\w+|browser|fuzz|release)/", (r"\1",)),
    (r"tests/data/action_plugins/", ("integration/commands", "integration/driver", "integration/settings")),
    (r"tests/(?:data/driver_project/|demo_project\.py)", ("unit/driver", "unit/perfci", "integration/driver")),
    (r"tests/data/", ("unit/analysis", "fuzz")),
    (r"molecule/shared/|\.config/", ("molecule/server",)),
    (r"molecule/(\w+)/", (r"molecule/\1",)),
    (r"analysis/", ("unit/analysis", "browser", "fuzz")),
    (r"driver/src/perfci/", ("unit/perfci", "integration/driver")),
    (r"driver/", ("unit/driver", "unit/perfci", "integration/driver")),
    (r"lab/", ("unit/lab", "integration/lab")),
    (
        rf"{_COLLECTION}/roles/({'|'.join(_GROUPS)})_",
        ("unit/roles", "unit/settings", r"molecule/\1"),
    ),
    (
        rf"{_COLLECTION}/plugins/(?:module|plugin)_utils/(\w+)/",
        (r"unit/\1", "unit/plugins", r"integration/\1", r"molecule/\1"),
    ),
    (rf"{_COLLECTION}/", ("unit/plugins", "unit/roles", "unit/settings", "integration/commands", "molecule/server")),
    (
        r"playbooks/(?:shared/|flow\.yml|toolbox\.yml)",
        ("unit/driver", "unit/settings", "integration/driver", "integration/settings", "integration/flows"),
    ),
    (r"playbooks/(\w+)", (r"unit/\1", "unit/settings", "integration/settings", "integration/flows")),
    (r"group_vars/|presets/|inventories/|ansible\.cfg", ("unit/settings", "integration/settings", "integration/flows")),
    (r"(?:tests/standins/)?awx/", ("unit/settings", "integration/awx")),
    (r"execution-environment\.yml|requirements/", ("unit/test_execution_environment.py",)),
    (r"docs/website/", ("unit/test_links.py", "browser/test_site.py")),
    (r"docs/|README|LICENSE|\.ci/", ("unit/settings", "unit/test_links.py")),
)
_ALL_UNIT = ("unit",)
_FRAGMENT = re.compile(rf"{_COLLECTION}/changelogs/fragments/[^/]+\.yaml")
# files that a release contains
_RELEASED = re.compile(
    rf"(?:driver|analysis|lab)/src/|{_COLLECTION}/(?!changelogs/|tests/)|playbooks/|presets/|inventories/"
)


@dataclass
class Selection:
    """What to run."""

    tests: set[str] = field(default_factory=set)
    scenarios: set[str] = field(default_factory=set)

    def names(self) -> list[str]:
        """Return one word for each test and scenario, for the reader."""
        return [*sorted(self.tests), *(f"molecule/{name}" for name in sorted(self.scenarios))]


def tests_of(path: str) -> tuple[str, ...]:
    """Return the tests of *path*, relative to the project: folders and files below tests, molecule/SCENARIO."""
    for pattern, wanted in _TABLE:
        if found := re.match(pattern, path):
            return tuple(found.expand(one) for one in wanted)
    return _ALL_UNIT


def pick(paths: Iterable[str], project: Path = PROJECT) -> Selection:
    """Return the tests of *paths*, without those inside another one."""
    picked = Selection()
    for wanted in {one for path in paths for one in tests_of(path)}:
        kind, _, name = wanted.partition("/")
        if kind == "molecule" and (project / "molecule" / name / "molecule.yml").exists():
            picked.scenarios.add(name)
        elif kind != "molecule" and (project / "tests" / wanted).exists():
            picked.tests.add(wanted)
    picked.tests = {one for one in picked.tests if not any(one.startswith(f"{other}/") for other in picked.tests)}
    return picked


def changed_since(commit: str) -> list[str]:
    """Return paths of the files that differ from *commit*, and of new ones."""
    differing = _git("diff", "--name-only", commit)
    return [*differing, *_git("ls-files", "--others", "--exclude-standard")]


def _before() -> str:
    if "main" not in _git("branch", "--format=%(refname:short)"):
        return "HEAD~1"
    (base,), (head,) = _git("merge-base", "HEAD", "main"), _git("rev-parse", "HEAD")
    return "HEAD~1" if base == head else base


def _git(*words: str) -> list[str]:
    program = shutil.which("git") or "git"
    done = subprocess.run([program, *words], cwd=PROJECT, check=True, capture_output=True, text=True)
    return done.stdout.splitlines()


def _commands(picked: Selection) -> list[list[str]]:
    pytest = [sys.executable, "-m", "pytest", "--quiet"]
    of_kind = {kind: [f"tests/{one}" for one in sorted(picked.tests) if one.startswith(kind)] for kind in ("unit", "")}
    others = [one for one in of_kind[""] if one not in of_kind["unit"]]
    commands = [["make", "--no-print-directory", "lint", "types"]]
    if of_kind["unit"]:
        commands.append([*pytest, "--numprocesses", "2", *of_kind["unit"]])
    if others:
        commands.append([*pytest, *others])
    if picked.scenarios:
        commands.append(["make", "--no-print-directory", "molecule", f"SCENARIOS={' '.join(sorted(picked.scenarios))}"])
    return commands


def lintable(paths: Iterable[str], project: Path = PROJECT) -> list[str]:
    """Return those of *paths* that ansible-lint can check; it would check any file that it gets."""
    excluded = tuple(yaml.safe_load((project / ".ansible-lint").read_text())["exclude_paths"])
    there = (path for path in paths if path.endswith((".yml", ".yaml")) and (project / path).exists())
    return sorted(path for path in there if not path.startswith(excluded))


def without_fragment(paths: Iterable[str], project: Path = PROJECT) -> list[str]:
    """Return the files of *paths* that a release contains, if no fragment of the changelog is among *paths*."""
    changed = list(paths)
    if any(_FRAGMENT.fullmatch(path) and (project / path).exists() for path in changed):
        return []
    return sorted(path for path in changed if _RELEASED.match(path))


def _check_fragment(changed: Iterable[str]) -> int:
    files = without_fragment(changed)
    if files:
        print(
            f"no fragment of the changelog for {len(files)} changed files, such as {files[0]}: add one to "
            f"{_COLLECTION}/changelogs/fragments; if users notice nothing, its section is `trivial`",
            file=sys.stderr,
        )
    return int(bool(files))


def main() -> int:
    """Print the selection, and run it; return 1 if anything failed."""
    given = [word for word in sys.argv[1:] if not word.startswith("--")]
    since = given[0] if given else _before()
    changed = changed_since(since)
    if "--lint" in sys.argv:
        # without a file ansible-lint would check all
        files = lintable(changed)
        command = ["ansible-lint", "--offline", "-q", *files]
        return subprocess.run(command, cwd=PROJECT, check=False).returncode if files else 0
    if "--changelog" in sys.argv:
        return _check_fragment(changed)
    picked = pick(changed)
    print(f"Changed since {since}; to run: lint, types, {', '.join(picked.names()) or 'no tests'}", flush=True)
    if "--show" in sys.argv:
        return 0
    # run all of them, even if one failed
    codes = [subprocess.run(command, cwd=PROJECT, check=False).returncode for command in _commands(picked)]
    return int(any(codes))


if __name__ == "__main__":
    sys.exit(main())
