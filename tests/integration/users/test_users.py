"""Users in pods: outcomes and artifacts of users that succeed, fail or are killed, and nothing that is left."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import pytest

from tests.integration.driver.killing import kill_all

from .conftest import IMAGE, SECRET, Users

pytestmark = pytest.mark.lab

JOB = "test"
TOOLBOX = ("perfdrv", "toolbox", "local-ci")
FAILING, KILLED = 2, 1
# one user fails, another sleeps until it is killed
COMMAND = f"""sh -c '
test -s $TOKEN/token || exit 9
case $PERF_USER_INDEX in
{FAILING}) exit 3 ;;
{KILLED}) sleep 300 ;;
esac
$PERF_USER_STEP nap sleep 0.2
echo $PERF_USER_SEED > $PERF_USER_ARTIFACTS/seed.txt'"""
# asks the API server for the ConfigMaps of both users' namespaces, with the credentials that any program in a pod has
ASKING = """python3 -c '
import os, ssl, urllib.error, urllib.request
account = "/var/run/secrets/kubernetes.io/serviceaccount/"
tls = ssl.create_default_context(cafile=account + "ca.crt")
headers = {"Authorization": "Bearer " + open(account + "token").read()}
def ask(index):
    namespace = os.environ["PERF_USER_NAMESPACE"][:-1] + str(index)
    url = f"https://kubernetes.default.svc/api/v1/namespaces/{namespace}/configmaps"
    try:
        return urllib.request.urlopen(urllib.request.Request(url, headers=headers), context=tls).status
    except urllib.error.HTTPError as error:
        return error.code
print(ask(0), ask(1))'"""
GIVEN = ("--secret-name", "token", "--secret-env-key", "TOKEN", "--seed", "7")


def outcomes(document: dict[str, Any]) -> dict[int, tuple[str, str | None]]:
    """Return outcome and cause of each user."""
    return {user["index"]: (user["outcome"], user["cause"]) for user in document["users"]}


def check_start(document: dict[str, Any], at_most_s: float) -> None:
    """Check that all users began at the planned instant."""
    delays = [user["launch_at_s"] - document["go_at_s"] for user in document["users"]]
    assert all(-0.001 <= delay < at_most_s for delay in delays), delays


def files_with(text: str, folder: Path) -> list[str]:
    """Return the files that contain a text."""
    return [path.name for path in folder.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]


def run_and_kill(users: Users, count: int) -> dict[str, Any]:
    """Run users of which one fails, kill another, and return the result."""
    process = users.start("run-multi", JOB, "--user-count", str(count), "--ci-command", COMMAND, *GIVEN)
    users.kill(users.wait_for_launch(JOB, KILLED, process))
    output, _ = process.communicate()
    assert process.returncode == 0, output
    document = users.result()
    expected: dict[int, tuple[str, str | None]] = dict.fromkeys(range(count), ("success", None))
    expected |= {FAILING: ("failed", "exit code 3"), KILLED: ("lost", "pod deleted")}
    assert outcomes(document) == expected
    fetched = {int(path.name.partition("-")[2]) for path in users.artifacts().glob("user-*")}
    assert fetched == set(range(count)) - {KILLED}
    assert (users.artifacts() / "success_count").read_text() == f"{count - 2}\n"
    assert users.left() == []
    assert files_with(SECRET, users.runs) == []
    return document


def test_failing_and_killed_users_are_accounted(users: Users) -> None:
    document = run_and_kill(users, 4)
    check_start(document, 0.5)
    user = document["users"][3]
    assert (user["seed"], user["artifacts"], user["node"]) == (10, "user-3", "worker-0")
    assert [step["name"] for step in user["steps"]] == ["nap"]
    assert (users.artifacts() / "user-3/seed.txt").read_text() == "10\n"


@pytest.mark.deep
def test_fifty_users_start_together(users: Users) -> None:
    check_start(run_and_kill(users, 50), 10.0)


@pytest.mark.deep
def test_user_that_exceeds_its_memory_keeps_its_artifacts(users: Users) -> None:
    eater = "python3 -c 'print(1, flush=True); import time; time.sleep(1); x = bytearray(200 << 20)'"
    done = users.run("run", JOB, "--ci-command", eater)
    assert done.returncode != 0
    assert outcomes(users.result())[0] in {("failed", "OOMKilled"), ("failed", "exit code 137")}
    assert (users.artifacts() / "user-0/log.txt").read_text() == "1\n"
    assert users.left() == []


@pytest.mark.deep
def test_user_lost_before_the_start_does_not_block_others(users: Users) -> None:
    setup = "sh -c 'test $JOB_COMPLETION_INDEX = 0 || exit 5'"
    words = ("--user-count", "2", "--setup-command", setup, "--ci-command", "true")
    done = users.run("run-multi", JOB, *words)
    assert done.returncode == 0, done.stdout
    assert outcomes(users.result()) == {0: ("success", None), 1: ("failed", "setup: exit code 5")}
    done = users.run("run-multi", JOB, "--need-all-success", *words)
    assert done.returncode != 0
    assert "1 of 2 users succeeded; 1 failed: setup: exit code 5" in done.stdout + done.stderr


@pytest.mark.deep
def test_failing_user_stops_the_others(users: Users) -> None:
    command = "sh -c 'test $PERF_USER_INDEX = 0 && exit 4; sleep 300'"
    done = users.run("run-multi", JOB, "--user-count", "3", "--abort-on-failure", "--ci-command", command)
    assert done.returncode != 0
    assert outcomes(users.result()) == {
        0: ("failed", "exit code 4"),
        1: ("stopped", "stopped"),
        2: ("stopped", "stopped"),
    }


@pytest.mark.deep
def test_each_user_has_rights_in_its_own_namespace_only(users: Users) -> None:
    prefix = ("--user-namespace-prefix", f"{users.namespace}-u")
    prepare = (
        "prepare-users",
        "--site",
        "lab",
        "--user-count",
        "2",
        *prefix,
        "--user-rights",
        "[{kinds: [ConfigMap], verbs: [list]}]",
    )
    done = users.lab.run(users.runs, *TOOLBOX, *prepare, "--namespace", users.namespace, "--image", IMAGE)
    assert done.returncode == 0, done.stdout
    accounts = ("--service-account", "local-ci", "--user-accounts", *prefix)
    done = users.run("run-multi", JOB, "--user-count", "2", "--need-all-success", *accounts, "--ci-command", ASKING)
    assert done.returncode == 0, done.stdout
    logs = [(users.artifacts() / f"user-{index}/log.txt").read_text() for index in range(2)]
    assert logs == ["200 403\n", "403 200\n"]
    # the begin of every token
    assert files_with("eyJhbGciOi", users.runs) == []

    done = users.lab.run(users.runs, *TOOLBOX, "remove-users", "--site", "lab", "--namespace", users.namespace)
    assert done.returncode == 0, done.stdout
    left = [each.metadata.name for each in users.core.list_namespace().items]
    assert [name for name in left if name.startswith(users.namespace)] == [users.namespace]
    secrets = users.core.list_namespaced_secret(users.namespace).items
    assert [each.metadata.name for each in secrets] == ["token"]


@pytest.mark.deep
def test_batches_start_one_after_the_other(users: Users) -> None:
    words = ("--user-count", "4", "--user-batch-size", "2", "--sleep-factor", "2", "--ci-command", "true")
    done = users.run("run-multi", JOB, *words)
    assert done.returncode == 0, done.stdout
    document = users.result()
    delays = [user["launch_at_s"] - document["go_at_s"] for user in document["users"]]
    assert [round(delay / 2.0) for delay in delays] == [0, 0, 1, 1]


@pytest.mark.deep
def test_interrupted_users_end_and_are_recorded(users: Users) -> None:
    process = users.start("run-multi", JOB, "--user-count", "2", "--ci-command", "sleep 300")
    users.wait_for_launch(JOB, 0, process)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate()
    assert process.returncode == 130, output
    assert set(outcomes(users.result()).values()) == {("stopped", "interrupted")}
    assert users.left() == []


@pytest.mark.deep
def test_finalizing_ends_the_users_of_a_killed_driver(users: Users) -> None:
    process = users.start("run-multi", JOB, "--user-count", "2", "--ci-command", "sleep 300")
    users.wait_for_launch(JOB, 0, process)
    kill_all(users.runs)
    process.communicate()
    assert users.left() != []
    run = next(users.runs.glob("toolbox-*"))
    done = users.lab.run(users.runs, "perfdrv", "runs", "finalize", str(run))
    assert users.left() == [], done.stdout + done.stderr


@pytest.mark.deep
def test_later_wait_finds_users_of_a_daemon(users: Users) -> None:
    done = users.run("run-multi", JOB, "--user-count", "2", "--daemon", "--ci-command", "sh -c 'echo done; sleep 3'")
    assert done.returncode == 0, done.stdout
    assert users.left() != []
    done = users.run("wait", JOB)
    assert done.returncode == 0, done.stdout
    assert outcomes(users.result()) == {0: ("success", None), 1: ("success", None)}
    assert (users.artifacts() / "user-1/log.txt").read_text() == "done\n"
    assert users.left() == []
