"""perfdrv run and toolbox with a real Ansible."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from .conftest import JOBS, Driver


def settings(run: Path) -> dict[str, object]:
    """Return name → value of a run's recorded settings."""
    document = yaml.safe_load((run / "settings.yml").read_text(encoding="utf-8"))
    return {name: entry["value"] for name, entry in document["all"].items()}


def test_flow_runs_and_prints_its_run_directory(driver: Driver) -> None:
    ended = driver("run", "demo", "-p", "quick", "-s", "demo_note=done")
    assert ended.code == 0, ended.out + ended.err
    lines = ended.out.splitlines()
    assert any(line.endswith("play        Test") for line in lines)
    assert any("ok          002__cell__0/001__demo__sleep" in line for line in lines)
    assert f"run     {driver.run()}" in lines
    assert driver.document()["status"] == "ok"
    assert settings(driver.run())["demo_note"] == "done"
    assert not any(driver.temporary.iterdir())


@pytest.mark.deep
def test_locale_and_folder_name_do_not_matter(demo: Path, tmp_path: Path) -> None:
    driver = Driver(tmp_path / "ü", demo)
    driver.folder.mkdir()
    driver.variables |= {"LC_ALL": "xx_XX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    ended = driver("run", "demo")
    assert (ended.code, driver.document()["status"]) == (0, "ok"), ended


def test_command_line_values_have_their_declared_types(driver: Driver) -> None:
    assert driver("run", "demo", "-s", "demo_seconds=[0.1, 0.2]", "-s", "demo_fails=no").code == 0
    assert settings(driver.run())["demo_seconds"] == [0.1, 0.2]
    assert settings(driver.run())["demo_fails"] is False


def test_failure_is_printed_with_its_directory(driver: Driver) -> None:
    ended = driver("run", "demo", "-s", "demo_fails=true")
    assert ended.code == 1
    failed = driver.run() / "002__cell__0" / "002__demo__fail"
    assert "demo: failed after" in ended.out
    assert "  what  demo_fail: The moon is within reach" in ended.out
    assert f"  see   {failed}" in ended.out
    assert (failed / "FAILURE").is_file()
    assert driver.finalizer_statuses() == ["ok"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["-s", "demo_secnds=1"], "did you mean demo_seconds?"),
        (["-s", "demo_seconds=long", "--jobs", "2"], "demo_seconds must be a float"),
        (["-e", '{"perf_presets": ["qick"]}'], "qick"),
    ],
)
def test_settings_refused_by_ansible_exit_with_2_without_a_run(words: list[str], sentence: str, driver: Driver) -> None:
    ended = driver("run", "demo", *words)
    assert ended.code == 2, ended.out + ended.err
    assert sentence in ended.out + ended.err
    assert list(driver.runs.glob("*")) == []


@pytest.mark.parametrize(
    ("inventory", "sentence"),
    [
        ("all: [", "YAML parsing failed: While parsing a flow node"),
        ("all: {hosts: {other: }}", "has none of the playbook's hosts; a site has the host sutest"),
    ],
)
@JOBS
def test_site_without_its_host_is_refused(
    inventory: str, sentence: str, jobs: str, driver: Driver, tmp_path: Path
) -> None:
    site = tmp_path / "site.yml"
    site.write_text(inventory, encoding="utf-8")
    ended = driver("run", "demo", "-i", str(site), "--jobs", jobs)
    assert ended.code == 2, ended.out + ended.err
    assert sentence in ended.out + ended.err
    assert list(driver.runs.glob("*")) == []


def project_of(demo: Path, tmp_path: Path, playbook: str) -> Driver:
    """Create a driver on a new project, whose flow is *playbook*."""
    project = tmp_path / "project"
    project.mkdir()
    for name in ("ansible.cfg", "collections", "presets", "inventories", "group_vars"):
        (project / name).symlink_to(demo / name)
    (project / "playbooks" / "demo").mkdir(parents=True)
    (project / "playbooks" / "demo" / "settings.yml").write_text("short_description: Own\n", encoding="utf-8")
    (project / "playbooks" / "demo.yml").write_text(playbook, encoding="utf-8")
    return Driver(tmp_path, project)


def test_broken_playbook_is_refused_with_file_and_line(demo: Path, tmp_path: Path) -> None:
    driver = project_of(demo, tmp_path, "- hosts: [\n")
    ended = driver("run", "demo")
    assert ended.code == 2
    assert "playbooks/demo.yml:" in ended.err
    assert list(driver.runs.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "shown", "made"),
    [
        (["--check"], True, False),
        pytest.param(["--diff"], True, True, marks=pytest.mark.deep),
        pytest.param([], False, True, marks=pytest.mark.deep),
    ],
)
def test_check_mode_shows_differences_without_making_them(
    demo: Path, tmp_path: Path, words: list[str], shown: bool, made: bool
) -> None:
    letter = tmp_path / "letter"
    copy = {"name": "Write", "ansible.builtin.copy": {"content": "Dear Ada\n", "dest": str(letter)}}
    plays = [{"hosts": "localhost", "gather_facts": False, "tasks": [copy]}]
    ended = project_of(demo, tmp_path, yaml.safe_dump(plays))("run", "demo", *words)
    assert ended.code == 0, ended.out + ended.err
    assert ("+Dear Ada" in ended.out) == shown
    assert letter.exists() == made


def test_unreachable_cluster_exits_with_3(tmp_path: Path) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    cluster = {"name": "x", "cluster": {"server": "http://127.0.0.1:9"}}
    context = {"name": "x", "context": {"cluster": "x", "user": "x"}}
    document = {"apiVersion": "v1", "kind": "Config", "clusters": [cluster], "contexts": [context]}
    document |= {"users": [{"name": "x", "user": {}}], "current-context": "x"}
    kubeconfig.write_text(json.dumps(document), encoding="utf-8")
    repository = Path(__file__).resolve().parents[3]
    driver = Driver(tmp_path, repository, {"KUBECONFIG": str(kubeconfig)})
    ended = driver("run", "scale_test", "-p", "scale_test_smoke", "-i", "local")
    assert ended.code == 3, ended.out + ended.err
    assert "127.0.0.1:9" in ended.out
    assert driver.document()["status"] == "failed"


@pytest.mark.deep
def test_check_mode_changes_nothing_and_succeeds(driver: Driver) -> None:
    ended = driver("run", "demo", "--check")
    assert ended.code == 0, ended.out + ended.err
    assert driver.document()["check"] is True
    assert "report" not in ended.out


@pytest.mark.deep
def test_verbose_shows_the_output_of_ansible(driver: Driver) -> None:
    assert "TASK [Check the settings]" in driver("run", "demo", "-v").out


@pytest.mark.deep
def test_tags_select_phases(driver: Driver) -> None:
    assert driver("run", "demo", "--tags", "prepare").code == 0
    assert set(driver.steps()) == {"001__prepare", "001__prepare/001__demo__tidy"}


def test_single_command_runs_with_its_options(driver: Driver) -> None:
    ended = driver("toolbox", "demo", "greet", "--name", "Ada", "--count", "41", "-v")
    assert ended.code == 0, ended.out + ended.err
    assert "warm hello Ada 42" in ended.out
    arguments = yaml.safe_load((driver.run() / "001__demo__greet" / "args.yml").read_text(encoding="utf-8"))["args"]
    assert (arguments["demo_greet_name"], arguments["demo_greet_count"]) == ("Ada", 41)


def test_missing_argument_is_named(driver: Driver) -> None:
    ended = driver("toolbox", "demo", "greet")
    assert ended.code != 0
    assert "demo_greet_name" in ended.out + ended.err


@pytest.mark.deep
def test_replay_has_the_settings_of_the_earlier_run(driver: Driver) -> None:
    assert driver("run", "demo", "-p", "quick", "-s", "demo_note=first").code == 0
    first = driver.run()
    assert driver("run", "--replay", first.name).code == 0
    (second,) = set(driver.runs.iterdir()) - {first}
    assert settings(second) == settings(first)


@pytest.mark.deep
def test_site_of_a_run_is_remembered(driver: Driver) -> None:
    assert driver("run", "demo", "-i", "elsewhere").code == 0
    assert driver.document()["site"] == "elsewhere"
    assert "site      elsewhere" in driver("runs", "show").out


def test_failed_report_does_not_hide_the_result(driver: Driver) -> None:
    driver.runs.mkdir()
    process = driver.start("run", "demo", "-s", "report_enabled=true")
    driver.wait_for("settings.yml", "demo_seconds")
    (driver.run() / "report").write_text("in the way", encoding="utf-8")
    ended = driver.end(process)
    assert ended.code == 0, ended.out + ended.err
    assert "report  failed: " in ended.out
