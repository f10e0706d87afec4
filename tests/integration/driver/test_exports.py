"""Export runs to a real S3 server, through failures and kills, and plot them from there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError

import pytest
from ansible_collections.psap.perf.plugins.module_utils.exporting.store import Store
from perfanalysis.results.history.folder import add
from perfci.jobs.steps import NAMES

from tests.integration.driver.conftest import Driver, ProgramResult
from tests.polling import PATIENCE_S
from tests.schemas import check_file
from tests.standins.s3_server import CREDENTIALS, SECRET, S3Server, s3_server
from tests.unit.analysis.histories import document, kpi

ANSIBLE = Path(sys.executable).parent / "ansible-playbook"
PROW = Path(__file__).parents[2] / "data" / "ci" / "prow.json"
BUCKET = "artifacts"
PLACE = f"s3://{BUCKET}/perf"
NOWHERE = "http://127.0.0.1:9"


@pytest.fixture(scope="module", name="server")
def _server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    with s3_server(tmp_path_factory.mktemp("s3")) as server:
        yield server


@pytest.fixture(name="store")
def _store(server: S3Server, driver: Driver, tmp_path: Path) -> Iterator[Store]:
    """Yield the bucket, which the driver reaches by its environment; empty it afterwards."""
    folder = tmp_path / "secrets"
    folder.mkdir()
    (folder / "s3").write_text(CREDENTIALS)
    driver.variables.update(
        PERF_SECRETS_DIR=str(folder),
        PERF_EXPORT_ENDPOINT=server.endpoint,
        PERF_EXPORT_CREDENTIALS="file:s3",
        XDG_CACHE_HOME=str(tmp_path / "cache"),
        KUBECONFIG="/nonexistent",
    )
    store = server.bucket(BUCKET)
    yield store
    store.end_uploads("")
    store.delete(store.sizes(""))
    store.close()


def _settings(endpoint: str, **others: object) -> str:
    given = {"export_to": PLACE, "export_endpoint": endpoint, "export_credentials": "file:s3", **others}
    return json.dumps(given)


def _run_by_ansible(driver: Driver, *words: str) -> ProgramResult:
    """Run the demo flow by ansible-playbook alone."""
    driver.temporary.mkdir(exist_ok=True)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ANSIBLE_", "PERF_"))}
    environment = {**kept, **driver.variables, "PERF_RUNS_DIR": str(driver.runs), "TMPDIR": str(driver.temporary)}
    command = [str(ANSIBLE), "playbooks/demo.yml", *words]
    done = subprocess.run(command, cwd=driver.project, env=environment, capture_output=True, text=True, check=False)
    return ProgramResult(done.returncode, done.stdout, done.stderr)


def _run_by_driver(driver: Driver, *words: str) -> ProgramResult:
    return driver("run", "demo", *words)


def _read_exported(store: Store, run: Path, path: str) -> bytes:
    content = store.read(f"perf/{run.name}/{path}")
    assert content is not None, sorted(store.sizes(""))
    return content


@pytest.mark.parametrize(
    "start", [pytest.param(_run_by_ansible, marks=pytest.mark.deep), _run_by_driver], ids=["native", "driven"]
)
def test_exported_run_comes_back_unchanged(start: object, driver: Driver, store: Store, server: S3Server) -> None:
    assert callable(start)
    ended = start(driver, "-e", _settings(server.endpoint, export_retention="90d", export_tags={"team": "perf"}))
    assert ended.code == 0, ended.out + ended.err
    run = driver.run()
    document = json.loads(_read_exported(store, run, "run.json"))
    assert (document["status"], document["exit_code"], document["attempts"][-1]["status"]) == ("ok", 0, "ok")
    assert document["ended"]
    assert driver.document()["export"]["status"] == "ok"
    check_file(run / "run.json")
    tags = store._client.get_object_tagging(Bucket=BUCKET, Key=f"perf/{run.name}/run.json")["TagSet"]
    assert {each["Key"]: each["Value"] for each in tags} == {"team": "perf", "psap-perf-retention": "90d"}

    plots = driver("replot", f"{PLACE}/{run.name}", run.name, "--to", PLACE)
    assert plots.code == 0, plots.out + plots.err
    (folder,) = driver.runs.glob("plots-*")
    check_file(folder / "plots.json")
    assert (folder / run.name / "index.html").is_file()
    assert store.read(f"perf/plots/{folder.name}/manifest.json")
    (cached,) = (driver.folder / "cache" / "psap-perf" / "exports").glob(f"*/{run.name}")
    check_file(server.root / BUCKET / "perf" / run.name / "manifest.json")
    assert (cached / "settings.yml").read_bytes() == (run / "settings.yml").read_bytes()

    with pytest.raises(HTTPError) as refused:
        urllib.request.urlopen(f"{server.endpoint}/{BUCKET}/perf/{run.name}/run.json")
    with refused.value:
        assert refused.value.code == 403
    leaks = [path for path in (*driver.runs.rglob("*"), *server.root.rglob("*")) if path.is_file()]
    assert [path for path in leaks if SECRET.encode() in path.read_bytes()] == []
    assert SECRET not in ended.out + ended.err + plots.out + plots.err


@pytest.mark.parametrize(
    "start", [pytest.param(_run_by_ansible, marks=pytest.mark.deep), _run_by_driver], ids=["native", "driven"]
)
def test_lost_export_is_reported_and_hides_no_result(start: object, driver: Driver, store: Store) -> None:
    assert callable(start)
    ended = start(driver, "-e", _settings(NOWHERE))
    assert ended.code == 1, ended.out + ended.err
    document = driver.document()
    assert (document["status"], document["exit_code"], document["reason"]) == ("ok", 0, None)
    assert document["export"]["status"] == "failed"
    assert NOWHERE in document["export"]["why"]
    assert f"perfdrv export {driver.run().name}" in ended.out + ended.err
    assert store.sizes("") == {}
    again = driver("export", "latest", "--to", PLACE)
    assert again.code == 0, again.err
    assert driver.document()["export"]["status"] == "ok"


@pytest.mark.deep
def test_failed_run_is_exported_as_failed(driver: Driver, store: Store, server: S3Server) -> None:
    ended = _run_by_ansible(driver, "-e", _settings(server.endpoint), "-e", "demo_fails=true")
    assert ended.code == 2, ended.out + ended.err
    run = driver.run()
    document, kept = json.loads(_read_exported(store, run, "run.json")), driver.document()
    assert (document["status"], document["reason"]) == ("failed", kept["reason"])
    assert kept["reason"]["what"].encode() in _read_exported(store, run, "index.html").replace(b"&#x27;", b"'")


def test_ci_job_exports_its_run_and_notifies(driver: Driver, store: Store, server: S3Server, tmp_path: Path) -> None:
    artifacts = tmp_path / "artifacts"
    driver.variables.update(ARTIFACT_DIR=str(artifacts), SHARED_DIR=str(tmp_path / "shared"))
    settings = _settings(server.endpoint, notify_slack_channel="C1", notify_dry_run=True)
    ended = driver("ci", "run", "demo", "-e", settings)
    assert ended.code == 0, ended.out + ended.err
    (run,) = artifacts.glob("demo-*")
    assert json.loads(_read_exported(store, run, "run.json"))["status"] == "ok"
    assert _read_exported(store, run, "manifest.json")
    assert "notify  slack, C1 (dry run):" in ended.out


@pytest.mark.deep
def test_lost_export_of_a_ci_job_is_in_its_files(driver: Driver, store: Store, tmp_path: Path) -> None:
    driver.variables["ARTIFACT_DIR"] = str(tmp_path / "artifacts")
    ended = driver("ci", "run", "demo", "-e", _settings(NOWHERE), "--skip", "plots")
    assert ended.code == 1, ended.out + ended.err
    (failure,) = (tmp_path / "artifacts" / "FAILURES").read_text().splitlines()
    assert "the run was not exported: failed: " in failure
    (run,) = (tmp_path / "artifacts").glob("demo-*")
    assert json.loads((run / "run.json").read_text())["status"] == "ok"
    # the printed command suffices
    (line,) = (line for line in ended.out.splitlines() if "try again with: perfdrv export " in line)
    again = driver(*line.partition("perfdrv ")[2].split(), "--to", PLACE)
    assert again.code == 0, again.err
    assert _read_exported(store, run, "manifest.json")


def _step(driver: Driver, step: str, artifacts: Path, settings: str) -> ProgramResult:
    driver.variables["ARTIFACT_DIR"] = str(artifacts)
    return driver("ci", "step", step, "demo", "-e", settings)


@pytest.mark.deep
def test_ci_steps_in_separate_folders_share_one_run(
    driver: Driver, store: Store, server: S3Server, tmp_path: Path
) -> None:
    driver.variables["SHARED_DIR"] = str(tmp_path / "shared")
    notification = {"notify_slack_channel": "C1", "notify_dry_run": True}
    settings = _settings(server.endpoint, **notification, demo_fails=True, report_enabled=True)
    ended = {step: _step(driver, step, tmp_path / step, settings) for step in NAMES}
    assert {step: each.code for step, each in ended.items() if each.code} == {"test": 1}, ended
    assert [step for step, each in ended.items() if "notify " in each.out] == ["post_cleanup", "export"]
    (run,) = (tmp_path / "export").glob("demo-*")
    assert f"artifacts: `{PLACE}/{run.name}`" in ended["export"].out
    assert json.loads(_read_exported(store, run, "run.json"))["status"] == "failed"
    assert _read_exported(store, run, "report/index.html")
    assert sorted(store.sizes(f"perf/{run.name}/003__cleanup/"))
    assert {path.name for step in NAMES for path in (tmp_path / step).glob("demo-*")} == {run.name}
    plotted = tmp_path / "plots" / run.name
    assert len(json.loads((plotted / "run.json").read_text())["attempts"]) == 4
    folders = {path.name for path in plotted.iterdir() if path.is_dir()}
    assert folders == {"001__prepare", "002__cell__0", "003__cleanup", "report"}
    assert "The moon is within reach" in (tmp_path / "post_cleanup" / "FAILURES").read_text()
    other = driver("ci", "step", "test", "demo")
    assert (other.code, "other settings than the first step" in other.err) == (2, True)
    skipped = driver("ci", "step", "export", "demo", "-e", settings, "--skip", "export")
    assert "export is skipped on request" in skipped.out


@pytest.mark.deep
def test_run_that_cannot_be_passed_on_is_exported_in_place(
    driver: Driver, store: Store, server: S3Server, tmp_path: Path
) -> None:
    prow = json.loads(PROW.read_text(encoding="utf-8"))["periodic"]["environment"]
    driver.variables.update(SHARED_DIR=str(tmp_path / "shared"), JOB_SPEC=prow["JOB_SPEC"])
    settings = _settings(server.endpoint, report_enabled=True)
    assert _step(driver, "prepare", tmp_path / "test", settings).code == 0
    (run,) = (tmp_path / "test").glob("demo-*")
    measured = run / "001__prepare" / "artifacts" / "measured.bin"
    measured.parent.mkdir(parents=True)
    measured.write_bytes(os.urandom(1 << 20))
    test = _step(driver, "test", tmp_path / "test", settings)
    assert (test.code, "get the run without its results" in test.out) == (0, True), test.out + test.err
    codes = [_step(driver, step, tmp_path / step, settings).code for step in ("post_cleanup", "plots", "export")]
    assert codes == [0, 0, 0]
    assert not list((tmp_path / "export").rglob("measured.bin"))
    ended = driver("replot", f"{PLACE}/{run.name}")
    assert ended.code == 0, ended.out + ended.err
    (fetched,) = (driver.folder / "cache" / "psap-perf" / "exports").glob(f"*/{run.name}")
    assert (fetched / "001__prepare" / "artifacts" / "measured.bin").read_bytes() == measured.read_bytes()
    assert (fetched / "report" / "index.html").is_file()
    assert list(fetched.glob("003__cleanup/*/status.json"))


def test_impossible_export_is_refused_before_the_test(driver: Driver, store: Store, server: S3Server) -> None:
    ended = driver("run", "demo", "-e", _settings(server.endpoint, export_credentials="file:absent"))
    assert ended.code == 2
    assert "file:absent" in ended.out + ended.err
    assert not driver.runs.exists() or list(driver.runs.iterdir()) == []
    assert store.sizes("") == {}


@pytest.mark.deep
def test_killed_export_is_incomplete_until_completed(driver: Driver, store: Store, server: S3Server) -> None:
    run = driver.runs / "demo-20260101T000000Z-abcdef"
    (run / "001__demo__greet" / "artifacts").mkdir(parents=True)
    (run / "run.json").write_text(json.dumps({"schema": "psap.perf/run/1", "id": run.name, "status": "ok"}))
    for number in range(600):
        (run / "001__demo__greet" / "artifacts" / f"{number}.txt").write_text(f"{number}\n" * 100)
    process = driver.start("export", run.name, "--to", PLACE)
    deadline = time.monotonic() + PATIENCE_S
    while not store.sizes("perf/") and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    process.kill()
    process.communicate()
    there = len(store.sizes("perf/"))
    assert 0 < there < 601
    half = driver("replot", f"{PLACE}/{run.name}")
    assert half.code == 5
    assert "is incomplete: manifest.json is missing" in half.out + half.err

    done = driver("export", run.name, "--to", PLACE)
    assert done.code == 0, done.err
    # some may have arrived between the count and the end of the process
    assert int(done.out.split("of which ")[1].split()[0]) <= 601 - there
    again = driver("export", run.name, "--to", PLACE)
    assert "of which 0 were sent" in again.out


@pytest.mark.deep
def test_large_file_resumes_at_the_interrupted_part(driver: Driver, store: Store) -> None:
    run = driver.runs / "demo-20260101T000000Z-abcdef"
    run.mkdir(parents=True)
    (run / "run.json").write_text(json.dumps({"schema": "psap.perf/run/1", "id": run.name, "status": "ok"}))
    (run / "database.tar").write_bytes(os.urandom(100 << 20))
    key = f"perf/{run.name}/database.tar"
    process = driver.start("export", run.name, "--to", PLACE)
    deadline = time.monotonic() + PATIENCE_S
    while process.poll() is None and time.monotonic() < deadline and not _parts(store, key):
        time.sleep(0.02)
    process.kill()
    process.communicate()
    first = _parts(store, key)
    assert first
    done = driver("export", run.name, "--to", PLACE)
    assert done.code == 0, done.err
    assert _parts(store, key) == {}
    back = driver("replot", f"{PLACE}/{run.name}")
    assert "SHA-256" not in back.out
    (cached,) = (driver.folder / "cache" / "psap-perf" / "exports").glob(f"*/{run.name}")
    assert (cached / "database.tar").read_bytes() == (run / "database.tar").read_bytes()


def _parts(store: Store, key: str) -> dict[int, str]:
    """Return the store's parts of an incomplete upload: part number → time of arrival."""
    found: dict[int, str] = {}
    for other, upload in store._uploads(key):
        parts = store._client.list_parts(Bucket=store.bucket, Key=other, UploadId=upload).get("Parts", ())
        found |= {part["PartNumber"]: str(part["LastModified"]) for part in parts}
    return found


@pytest.mark.deep
def test_damaged_object_of_the_store_is_refused(driver: Driver, store: Store, server: S3Server) -> None:
    assert driver("run", "demo", "-e", _settings(server.endpoint)).code == 0
    run = driver.run()
    damaged = server.root / BUCKET / "perf" / run.name / "settings.yml"
    damaged.write_text("x" + damaged.read_text()[1:])
    ended = driver("replot", f"{PLACE}/{run.name}")
    assert ended.code == 5
    assert "settings.yml" in ended.out
    assert "is damaged" in ended.out
    damaged.unlink()
    ended = driver("replot", f"{PLACE}/{run.name}")
    assert (ended.code, "settings.yml of the manifest is missing" in ended.out) == (5, True)
    # another export repairs it
    assert driver("export", run.name, "--to", PLACE).code == 0
    assert driver("replot", f"{PLACE}/{run.name}").code == 0


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["replot"], 2, "no run: name"),
        (["replot", f"{PLACE}/none"], 2, "no export at"),
        (["replot", "s3://"], 2, "is not a location in an S3 store"),
        (["replot", "--from-file", "/dev/null"], 2, "lists no run"),
        (["replot", f"{NOWHERE}/x"], 1, "cannot fetch"),
        (["export", "none", "--to", PLACE], 2, "no runs in "),
        (["export", "none", "--to", PLACE, "--credentials", "literal"], 2, "no runs in "),
    ],
)
def test_invalid_export_command_is_one_sentence(
    words: list[str], code: int, message: str, driver: Driver, store: Store
) -> None:
    ended = driver(*words)
    assert (ended.code, message in ended.out + ended.err) == (code, True), ended.out + ended.err


@pytest.mark.deep
def test_site_of_a_history_is_exported_beside_the_runs(driver: Driver, store: Store, tmp_path: Path) -> None:
    history = tmp_path / "history"
    for day in range(6):
        add(history, document(day, [kpi("wait", 1.0 + day / 100)]))
    for sent in ("page", "nothing new"):
        done = driver("history", "site", str(history), "--to", PLACE)
        assert done.code == 0, (sent, done.err)
    assert f"export  {PLACE}/site\n" in done.out
    content = store.read("perf/site/history.html")
    assert content is not None
    assert b'"report":"../run-003/report/index.html"' in content
    assert sorted(store.sizes("perf/site/")) == [
        f"perf/site/{name}" for name in ("history.html", "index.html", "manifest.json")
    ]
