"""What all commands share, tested with commands made for it; no cluster is needed."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.psap.perf.plugins.module_utils.run.directory import hold, release

from tests.integration.commands.conftest import TemporaryProject
from tests.polling import PATIENCE_S, wait_until
from tests.schemas import check_file

Task = dict[str, Any]
CONCLUDE: Task = {"name": "Conclude", "psap.perf.conclude": {}}
SUCCEED: Task = {"name": "Succeed", "ansible.builtin.debug": {"msg": "fine"}}


def _fail(message: str) -> Task:
    return {"name": "Fail", "ansible.builtin.fail": {"msg": message}}


def _act(**arguments: Any) -> Task:
    return {"name": "Act", "act": arguments}


def _run(*argv: str) -> Task:
    return {"name": "Run", "ansible.builtin.command": {"argv": list(argv)}, "changed_when": False}


def _include(role: str, **more: Any) -> Task:
    return {"name": f"Include {role}", "ansible.builtin.include_role": {"name": role}, **more}


def _phase(project: TemporaryProject, name: str, tasks: list[Task], **variables: Any) -> Task:
    path = project.root / "playbooks" / f"{name}.yml"
    path.write_text(yaml.safe_dump(tasks, sort_keys=False))
    include = {"name": name, "ansible.builtin.include_tasks": "shared/phase.yml"}
    return {**include, "vars": {"perf_phase_tasks": str(path), **variables}}


def _lanes(*names: str) -> dict[str, Any]:
    include = {"name": "Lanes", "ansible.builtin.include_tasks": "shared/lanes.yml"}
    stage = {"stage": "lanes", "regions": {"lanes": list(names)}}
    return {"name": "Lanes", "tasks": [{**include, "vars": {"perf_stage": stage, "perf_checked": {}}}]}


def test_nested_commands_groups_and_loops_write_to_their_folders(project: TemporaryProject) -> None:
    project.command("nfd_leaf", [SUCCEED])
    inner = {"name": "Group", "vars": {"perf_group": "inner"}, "block": [_include("nfd_leaf")]}
    project.command("nfd_outer", [_include("nfd_leaf"), inner])
    outer = {"name": "Group", "vars": {"perf_group": "outer"}, "block": [_include("nfd_outer"), _include("nfd_leaf")]}
    project.playbook([{"tasks": [_include("nfd_leaf", loop=[1, 2]), outer, CONCLUDE]}])
    outcome = project.run()
    assert outcome.exit_code == 0, outcome.output
    assert outcome.tree() == [
        "001__nfd__leaf",
        "002__nfd__leaf",
        "003__outer/001__nfd__outer",
        "003__outer/001__nfd__outer/001__nfd__leaf",
        "003__outer/001__nfd__outer/002__inner/001__nfd__leaf",
        "003__outer/002__nfd__leaf",
    ]
    assert outcome.run["status"] == "ok"
    assert {outcome.status(directory)["status"] for directory in outcome.tree()} == {"ok"}


def test_shared_role_has_the_arguments_and_folder_of_its_command(project: TemporaryProject) -> None:
    note = {"name": "Note", "psap.perf.record": {"file": "given", "values": "{{ __shared }}"}}
    project.role("shared", {"tasks/main": [note, _fail("no luck")]})
    include = _include("shared", vars={"__shared": "{{ __psap_perf_command.arguments }}"})
    project.command("nfd_leaf", [include], {"nfd_leaf_labels": {"type": "list"}, "nfd_leaf_count": {"type": "int"}})
    outer = _include("nfd_leaf", vars={"nfd_leaf_labels": ["a"], "nfd_leaf_count": 2})
    project.command("nfd_outer", [outer])
    project.playbook([{"tasks": [_include("nfd_outer")]}])
    outcome = project.run()
    command = outcome.directory / "001__nfd__outer/001__nfd__leaf"
    assert yaml.safe_load((command / "artifacts/given.yml").read_text()) == {
        "schema": "psap.perf/given/1",
        "labels": ["a"],
        "count": 2,
    }
    assert (command / "FAILURE").read_text().startswith("nfd_leaf: Fail\n")
    assert outcome.run["reason"]["directory"] == str(command)


def test_failed_prepare_lane_skips_the_test_but_not_the_cleanup(project: TemporaryProject) -> None:
    project.command("nfd_good", [SUCCEED])
    project.command("nfd_bad", [_fail("no GPU here")])
    project.playbook(
        [
            _lanes("good", "bad"),
            {
                "name": "Prepare",
                "hosts": "lanes",
                "strategy": "ansible.builtin.host_pinned",
                "tasks": [_phase(project, "prepare", [_include("nfd_{{ perf_lane }}")])],
            },
            {
                "name": "Test",
                "tasks": [_phase(project, "test", [_include("nfd_good")])],
                "vars": {"perf_group": "test"},
            },
            {
                "name": "Cleanup",
                "vars": {"perf_group": "cleanup"},
                "tasks": [_phase(project, "cleanup", [_include("nfd_good")], perf_phase_gated=False)],
            },
            {"name": "Conclude", "tasks": [CONCLUDE]},
        ]
    )
    outcome = project.run()
    assert outcome.exit_code == 2, outcome.output
    assert not [directory for directory in outcome.tree() if "test" in directory]
    assert [directory for directory in outcome.tree() if "cleanup" in directory]
    assert outcome.run["status"] == "failed"
    assert outcome.run["reason"]["why"] == "no GPU here"
    assert "lane__bad" in outcome.run["reason"]["directory"]


def test_failure_of_all_lanes_still_reaches_the_cleanup(project: TemporaryProject) -> None:
    project.command("nfd_good", [SUCCEED])
    project.command("nfd_bad", [_fail("down")])
    lanes = {"hosts": "lanes", "strategy": "ansible.builtin.host_pinned"}
    project.playbook(
        [
            _lanes("a", "b"),
            {"name": "Prepare", **lanes, "tasks": [_phase(project, "prepare", [_include("nfd_bad")])]},
            {"name": "Cleanup", "tasks": [_phase(project, "cleanup", [_include("nfd_good")], perf_phase_gated=False)]},
        ]
    )
    assert any("nfd__good" in directory for directory in project.run().tree())


def test_two_failing_finalizers_both_run_and_the_first_error_counts(project: TemporaryProject) -> None:
    finalizers = ["nfd_first", "nfd_second", "nfd_third"]
    project.command("nfd_first", [_fail("first is broken")])
    project.command("nfd_second", [_fail("second is broken")])
    project.command("nfd_third", [SUCCEED])
    # the shared file includes roles of the collection by their full names; here the roles are beside the playbook
    shared = (project.root / "playbooks" / "shared").resolve()
    (project.root / "playbooks" / "shared").unlink()
    (project.root / "playbooks" / "shared").mkdir()
    for name in ("finalize.yml", "finalize_one.yml"):
        text = (shared / name).read_text().replace("psap.perf.{{ perf_finalizer }}", "{{ perf_finalizer }}")
        (project.root / "playbooks" / "shared" / name).write_text(text)
    include = {"name": "Finalize", "ansible.builtin.include_tasks": "shared/finalize.yml"}
    project.playbook([{"tasks": [{**include, "vars": {"perf_finalizers": finalizers}}, CONCLUDE]}])
    outcome = project.run()
    assert outcome.exit_code == 2
    assert [outcome.status(directory)["status"] for directory in outcome.tree()] == ["failed", "failed", "ok"]
    assert outcome.run["reason"]["why"] == "first is broken"
    assert "001__nfd__first" in outcome.run["reason"]["directory"]
    assert "after it failed: nfd_second" in outcome.output


def test_parallel_lanes_have_separate_folders_and_ends(project: TemporaryProject) -> None:
    done = project.root / "done"
    done.mkdir()
    names = [f"l{number}" for number in range(6)]
    project.command("nfd_short", [_run("touch", f"{done}/{{{{ perf_lane }}}}")])
    # it ends after all others, for any duration of theirs
    wait = f"until [ $(ls {done} | wc -l) -eq {len(names) - 1} ]; do sleep 0.05; done; sleep 1"
    project.command("nfd_long", [_run("sh", "-c", wait)])
    long_for = "{{ 'nfd_long' if perf_lane == 'l0' else 'nfd_short' }}"
    lanes = {"hosts": "lanes", "strategy": "ansible.builtin.host_pinned", "vars": {"perf_group": "prepare"}}
    project.playbook([_lanes(*names), {"name": "Work", **lanes, "tasks": [_include(long_for)]}])
    outcome = project.run()
    assert outcome.exit_code == 0, outcome.output
    directories = outcome.tree()
    assert len(directories) == 6
    assert sorted(directory.split("/")[1].partition("__")[0] for directory in directories) == [
        f"{number:03d}" for number in range(1, 7)
    ]
    ended = {directory.split("lane__")[1][:2]: outcome.status(directory)["ended"] for directory in directories}
    assert all(ended["l0"] > ended[name] for name in names[1:])
    with (outcome.directory / "timeline.csv").open() as stream:
        rows = [row for row in csv.DictReader(stream) if row["kind"] == "command"]
    assert {row["lane"]: row["end"] for row in rows} == ended


def _processes_with(marker: str) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if marker in (entry / "cmdline").read_bytes().decode(errors="replace"):
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


def test_kill_9_of_ansible_playbook_stops_the_verb_and_its_children(project: TemporaryProject) -> None:
    marker = f"61{os.getpid()}"
    project.command("nfd_long", [_act(seconds=int(marker))])
    project.playbook([{"tasks": [_include("nfd_long")]}])
    process = project.start()
    try:
        wait_until(lambda: _processes_with(f"sleep\0{marker}"))
        process.send_signal(signal.SIGKILL)
        process.wait()
        wait_until(lambda: not _processes_with(f"sleep\0{marker}"))
    finally:
        process.kill()
        process.communicate()
    run = json.loads((project.latest() / "run.json").read_text())
    assert run["status"] == "running"
    status = subprocess.run(
        ["perfdrv", "runs", "show", project.latest().name, "--json"],
        cwd=project.root, env=project.environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert '"interrupted"' in status.stdout, status.stderr


def test_stop_request_interrupts_the_verb_and_only_finalizers_follow(project: TemporaryProject) -> None:
    project.command("nfd_long", [_act(file="artifacts/began", seconds=600)])
    project.command("nfd_good", [SUCCEED])
    project.playbook(
        [
            {"name": "Test", "tasks": [_phase(project, "test", [_include("nfd_long"), _include("nfd_good")])]},
            {"name": "More", "tasks": [_phase(project, "more", [_include("nfd_good")])]},
            {
                "name": "Cleanup",
                "vars": {"perf_group": "cleanup", "perf_finalizing": True},
                "tasks": [_include("nfd_good"), CONCLUDE],
            },
        ]
    )
    with project.start() as process:
        try:
            wait_until(lambda: list(project.root.glob("runs/**/artifacts/began")))
            (project.latest() / "stop").touch()
            output, _ = process.communicate(timeout=PATIENCE_S)
        finally:
            process.kill()
    run = json.loads((project.latest() / "run.json").read_text())
    assert (run["status"], run["exit_code"]) == ("interrupted", 130), output
    opened = sorted(path.parent.name for path in project.latest().rglob("status.json"))
    assert opened == ["001__nfd__good", "001__nfd__long"]


def test_failure_is_explained_and_command_txt_repeats_it(project: TemporaryProject) -> None:
    project.command("nfd_bad", [_fail("the reason")], {"nfd_bad_x": {"type": "int", "description": "X", "default": 1}})
    project.playbook([{"tasks": [_include("nfd_bad", vars={"nfd_bad_x": 7})]}])
    outcome = project.run()
    text = (outcome.directory / "001__nfd__bad" / "FAILURE").read_text()
    first, second, *rest = text.splitlines()
    assert first == "nfd_bad: Fail"
    assert "playbooks/roles/nfd_bad/tasks/main.yml:1 on host sutest" in second
    assert "the reason" in rest
    again = (outcome.directory / "001__nfd__bad" / "command.txt").read_text()
    assert "playbooks/toolbox.yml" in again
    assert '"nfd_bad_x": 7' in again


def test_failed_item_is_the_reason_of_a_looped_task(project: TemporaryProject) -> None:
    looped = {**_act(secret="env:{{ item }}"), "loop": ["HOME", "NO_SUCH_VARIABLE"]}
    project.command("nfd_loop", [looped])
    project.playbook([{"tasks": [_include("nfd_loop")]}])
    reason = project.run().run["reason"]
    assert "NO_SUCH_VARIABLE" in reason["why"]
    assert (reason["kind"], reason["exit_code"]) == ("UsageError", 2)


def test_failure_is_recorded_in_all_enclosing_commands(project: TemporaryProject) -> None:
    project.command("nfd_bad", [_fail("the reason")])
    project.command("nfd_outer", [_include("nfd_bad")])
    project.playbook([{"tasks": [_include("nfd_outer")]}])
    outer = project.run().directory / "001__nfd__outer"
    for directory in (outer, outer / "001__nfd__bad"):
        text = (directory / "FAILURE").read_text()
        assert text.startswith("nfd_bad: Fail\n")
        assert f"Run it again: sh {directory}/command.txt" in text


def test_argument_of_the_wrong_type_fails_in_the_commands_folder(project: TemporaryProject) -> None:
    project.command("nfd_typed", [SUCCEED], {"nfd_typed_x": {"type": "int", "description": "X"}})
    project.playbook([{"tasks": [_include("nfd_typed", vars={"nfd_typed_x": "many"})]}])
    outcome = project.run()
    assert outcome.exit_code == 2
    assert "nfd_typed_x" in (outcome.directory / "001__nfd__typed" / "FAILURE").read_text()


def test_run_without_an_opened_command_fails(project: TemporaryProject) -> None:
    project.command("nfd_good", [SUCCEED])
    plays = [{"tags": ["prepare"], "tasks": [_include("nfd_good")]}, {"tags": ["always"], "tasks": [CONCLUDE]}]
    project.playbook(plays)
    outcome = project.run("--tags", "prapare")
    assert outcome.exit_code == 2
    assert "no command ran" in outcome.output
    assert project.run("--tags", "prepare").exit_code == 0


def test_no_play_begins_without_a_run_directory(project: TemporaryProject) -> None:
    project.playbook([{"tasks": [SUCCEED]}])
    (project.root / "runs").write_text("a file, so that no folder of runs can be made")
    process = project.start()
    output, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 1
    assert "no play begins without a run directory: cannot make a run directory below" in output
    assert "PLAY [" not in output


def test_run_of_another_process_is_left_unchanged(project: TemporaryProject) -> None:
    project.playbook([{"tasks": [SUCCEED]}])
    directory = project.root / "runs" / "try-1"
    directory.mkdir(parents=True)
    hold(directory)
    try:
        process = project.start(environment={"PERF_RUN_DIR": str(directory)})
        output, _ = process.communicate(timeout=PATIENCE_S)
    finally:
        release(directory)
    assert process.returncode == 2
    assert "try-1 is still running" in output
    assert "PLAY [" not in output
    assert [path.name for path in directory.iterdir()] == ["run.lock"]


def test_verb_outside_a_command_is_refused(project: TemporaryProject) -> None:
    project.playbook([{"tasks": [_act(file="somewhere")]}])
    outcome = project.run()
    assert outcome.exit_code == 2
    assert "this verb works inside a command" in outcome.output


def test_api_verb_refuses_a_remote_host(project: TemporaryProject) -> None:
    wait = {"name": "Wait", "psap.perf.wait": {"kind": "Pod", "timeout": "1s"}}
    project.command("nfd_wait", [wait])
    project.playbook([{"tasks": [_include("nfd_wait")]}])
    outcome = project.run("-e", "ansible_connection=ssh")
    assert "set ansible_connection: local" in outcome.output


@pytest.mark.parametrize("flag", [[], ["-vvv"]])
def test_secret_is_hidden_and_a_planted_one_reported(
    project: TemporaryProject, flag: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "hunter2-and-more"
    monkeypatch.setenv("MY_TOKEN", secret)
    project.command("nfd_secret", [_act(secret="env:MY_TOKEN", text="token $SECRET", fails=True)])
    project.playbook([{"tasks": [{"name": "Try", "block": [_include("nfd_secret")], "always": [CONCLUDE]}]}])
    outcome = project.run(*flag)
    assert outcome.exit_code == 2
    assert secret not in outcome.output
    files = [path for path in outcome.directory.rglob("*") if path.is_file()]
    assert not [path for path in files if secret in path.read_text(errors="replace")]
    assert "token (secret)" in (outcome.directory / "001__nfd__secret" / "FAILURE").read_text()

    project.command("nfd_secret", [_act(secret="env:MY_TOKEN", text="$SECRET", file="planted")])
    found = project.run(*flag)
    assert "plain-text secret found in the run directory: 001__nfd__secret/planted:1" in found.output
    assert secret not in found.output


def test_every_document_follows_its_schema(project: TemporaryProject) -> None:
    note = {"name": "Note", "psap.perf.record": {"file": "address", "values": {"host": "redis.x.svc", "port": 6379}}}
    options = {"nfd_noted_labels": {"type": "dict", "description": "Labels", "default": {"app": "redis"}}}
    project.command("nfd_noted", [note], options)
    project.command("nfd_bad", [_fail("no GPU here")])
    cells = [_cell(project, 0, "nfd_noted"), _cell(project, 1, "nfd_bad")]
    project.playbook([{"tasks": cells, "vars": {"matrix_stop_on_failure": False}}])
    outcome = project.run()
    documents = [path for path in outcome.directory.rglob("*") if path.suffix in (".json", ".yml")]
    names = [check_file(path).removeprefix("psap.perf/") for path in documents]
    expected = {"run/1": 1, "group/1": 2, "cell/1": 2, "command/1": 2, "args/1": 2, "address/1": 1}
    assert Counter(names) == expected, outcome.output
    ended = [json.loads(path.read_text()) for path in sorted(outcome.directory.rglob("cell.json"))]
    assert [(cell["status"], cell["error"]) for cell in ended] == [("ok", None), ("failed", "no GPU here")]


def test_cells_that_never_begin_leave_nothing(project: TemporaryProject) -> None:
    project.command("nfd_first", [_act(file="../../stop")])
    project.command("nfd_second", [SUCCEED])
    cells = [_cell(project, 0, "nfd_first"), _cell(project, 1, "nfd_second"), _cell(project, 2, "nfd_second")]
    project.playbook([{"tasks": cells, "vars": {"matrix_stop_on_failure": False}}])
    outcome = project.run()
    assert [path.name for path in sorted(outcome.directory.glob("*__cell__*"))] == ["001__cell__0"], outcome.output
    assert "cell 2 does not start: the run was asked to stop" in outcome.output


def _cell(project: TemporaryProject, index: int, role: str) -> Task:
    import yaml

    path = project.root / "playbooks" / f"flow_{index}" / "cell.yml"
    path.parent.mkdir()
    path.write_text(yaml.safe_dump([_include(role)]))
    # a folder with settings is one of a flow
    (path.parent / "settings.yml").write_text(yaml.safe_dump({"short_description": "A flow", "options": {}}))
    cell = {"index": index, "name": f"role={role}", "values": {"role": role}}
    include = {"name": f"Cell {index}", "ansible.builtin.include_tasks": "shared/cell.yml"}
    return {**include, "vars": {"perf_cell": cell, "perf_flow": path.parent.name}}
