"""The inputs to damage, one of each kind, small but complete, and the commands that read them."""

from __future__ import annotations

import contextlib
import io
import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from perfanalysis import reports
from perfanalysis.__main__ import run
from perfanalysis.files.cache import content_hash, own_hash
from perfanalysis.results.history.folder import add, content_name

from tests.data.boot_timings import boot_timing, openshift
from tests.data.cold_starts import write_cold_starts
from tests.data.container_benchmarks import container_benchmark
from tests.data.downloads import DOWNLOADS, write_downloads
from tests.data.evaluations import write_evaluation
from tests.data.fine_tuning_runs import Training, write_tuning_run
from tests.data.ghz_results import detail, ghz
from tests.data.kserve_scale import write_scale_test
from tests.data.kube_burner_folders import node_density
from tests.data.kubernetes_lists import job, pod, write_list
from tests.data.llama_benches import inference_server, llama_bench
from tests.data.load_searches import write_load_search
from tests.data.load_tests import Load, write_guidellm, write_llm_load_test
from tests.data.pipeline_tests import PipelineTest, pipeline_test, write_pipelines
from tests.data.prometheus_windows import gpu, write_window
from tests.data.replica_tests import write_autoscale, write_rollout
from tests.data.result_trees import lts_payload
from tests.data.synthetic_queue import EPOCH
from tests.data.synthetic_runs import Shape, write_run
from tests.data.user_tests import UserTest, user_test, write_users
from tests.unit.analysis.histories import document, kpi
from tests.unit.analysis.old_tool import make as make_old_tool

FOREIGN = Path(__file__).resolve().parents[1] / "data" / "foreign"
LAYOUT = Path(reports.__file__).parent / "default_layout.yml"
"""The shipped layout."""
INPUT = "input"
SCRATCH = "scratch"
RUN = "run"


@dataclass(frozen=True)
class Target:
    """An input below a folder `input`, and commands; `{input}` and `{scratch}` are replaced by folders.

    `share` is how often it is damaged, in a thousand; a costly one less often.
    """

    make: Callable[[Path], object]
    commands: tuple[str, ...]
    share: int
    repair: Callable[[Path], object] | None = None
    """Updates the hashes in the damaged input, so that the content behind them is read, too."""


def _scale_test(directory: Path) -> None:
    shape = Shape(workloads=8, nodes=2, duration=1.0, rate=20.0, everything=True)
    write_run(directory, [shape], run=RUN)


def _matrix(directory: Path) -> None:
    write_run(directory, [Shape(workloads=4, nodes=1, duration=1.0), Shape(workloads=3, nodes=1, pods=2)], run=RUN)


def _fine_tuning(directory: Path) -> None:
    write_tuning_run(directory, [Training(steps=6), Training(steps=6, gpus=2, workload="ilab")], run=RUN)


def _monitored(directory: Path) -> None:
    write_tuning_run(directory, [Training(steps=6)], run=RUN)
    window = (EPOCH, EPOCH + 60.0)
    series = [gpu("DCGM_FI_DEV_GPU_UTIL", "job-master-0", 0, [10.0, None, 30.0], EPOCH)]
    write_window(directory / RUN / "001__prometheus__query", window, {"gpu_util": series, "refused": None})


def _declared(directory: Path) -> None:
    write_downloads(directory / RUN / "000__download" / "artifacts", 1, transfers=10, clients=2)


def _kubernetes_objects(directory: Path) -> None:
    place = directory / RUN / "000__cell"
    write_list(place / "pods.json", [pod(f"job-{n}-worker-0", n, n + 1.0, n + 3.0, n + 9.0) for n in range(4)])
    write_list(place / "jobs.json", [job(f"job-{n}", n, n + 1.0, n + 9.0) for n in range(4)])
    marker = {"schema": "psap.perf/kubernetes-objects/1", "test": "t", "started_s": EPOCH, "ended_s": EPOCH + 9}
    (place / "kubernetes_objects.json").write_text(json.dumps(marker))


def _load_tests(directory: Path) -> None:
    for version in ("0.3", "0.8"):
        write_guidellm(directory / RUN / f"000__guidellm_{version}", [Load(2, 12, failing=5), Load(4, 12)], version)
    write_llm_load_test(directory / RUN / "001__llm_load_test", Load(2, 12, failing=5))


def _load_search(directory: Path) -> None:
    write_load_search(directory / RUN / "000__cell")


def _cold_starts(directory: Path) -> None:
    write_cold_starts(directory / RUN / "000__cell")


def _replicas(directory: Path) -> None:
    write_autoscale(directory / RUN / "000__cell")
    write_rollout(directory / RUN / "001__cell")


def _evaluation(directory: Path) -> None:
    write_evaluation(directory / RUN / "000__cell")


def _quietly(words: list[str]) -> None:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        run(words)


def _kube_burner_run(directory: Path) -> None:
    """Import such a folder."""
    node_density(directory / "folder", count=8)
    _quietly(["import", "kube-burner", str(directory / "folder"), "--into", str(directory / RUN)])
    shutil.rmtree(directory / "folder")


def _prometheus_run(directory: Path) -> None:
    files = [str(path) for path in sorted((FOREIGN / "prometheus").glob("*_*.json"))]
    _quietly(["import", "prometheus", *files, "--into", str(directory / RUN), "--lower", "*"])


def _lts(directory: Path) -> None:
    """Write downloaded payloads of MatrixBenchmarking, with the file that states their origin."""
    (directory / "source.lts.yaml").write_text("index: tests\n")
    for day in range(3):
        payload = lts_payload(f"5a1f0c9e-2222-4333-8444-55566777880{day}", f"2.{day}.0", 100.0 + day, day)
        (directory / f"tests_{day}.json").write_text(json.dumps(payload))


def _container_bench(directory: Path) -> None:
    place = directory / RUN / "000__cell" / "001__container_bench__iperf_net_host_benchmark" / "artifacts"
    place.mkdir(parents=True)
    (place / "container_benchmark.yml").write_text(json.dumps(container_benchmark(3)))


def _boot_timing(directory: Path) -> None:
    place = directory / RUN / "000__cell" / "001__crc__capture_boot_timing" / "artifacts"
    place.mkdir(parents=True)
    (place / "boot_timing.yml").write_text(json.dumps({**boot_timing(), **openshift()}))


def _llama_bench(directory: Path) -> None:
    place = directory / RUN / "000__cell" / "001__mac_ai__remote_llama_cpp_run_bench" / "artifacts"
    place.mkdir(parents=True)
    (place / "llama_bench.yml").write_text(json.dumps(llama_bench()))


def _ghz(directory: Path) -> None:
    place = directory / RUN / "000__cell" / "001__wisdom__run_llm_load_test" / "artifacts" / "input_0"
    place.mkdir(parents=True)
    calls = [detail(number / 10, 0.2, "Unavailable" if number % 5 == 0 else "OK") for number in range(20)]
    (place / "ghz.json").write_text(json.dumps(ghz(calls)))


def _inference_server(directory: Path) -> None:
    server, usage = (directory / RUN / "000__cell" / name / "artifacts" for name in ("001__server", "002__usage"))
    server.mkdir(parents=True)
    usage.mkdir(parents=True)
    (server / "inference_server.yml").write_text(json.dumps(inference_server(2.5)))
    sample = {"at_s": EPOCH, "cpu_share": 0.5, "used_bytes": 1 << 30, "memory_bytes": 1 << 31}
    (usage / "cpu_ram_usage.jsonl").write_text("".join(f"{json.dumps(sample)}\n" for _number in range(3)))


def _skeleton(directory: Path) -> None:
    place = directory / RUN / "000__cell" / "001__skeleton__start_pods" / "artifacts"
    place.mkdir(parents=True)
    (place / "skeleton.yml").write_text("schema: psap.perf/skeleton/1\npods: 3\nwaited_s: 4.5\n")
    pods = [pod(f"start-pods-{n}", n, n + 1.0, n + 3.0, n + 9.0) for n in range(3)]
    (place / "pod.yml").write_text("".join(f"---\n{json.dumps(one)}\n" for one in pods))


def _kept_tables(directory: Path) -> None:
    """Parse a run: its kept tables are damaged, too."""
    _declared(directory)
    _quietly(["parse", str(directory / RUN), "--workload", str(DOWNLOADS), "--output", str(directory / "report")])


def _workload(directory: Path) -> None:
    write_downloads(directory / RUN, 1, transfers=5, clients=1)
    shutil.copytree(DOWNLOADS, directory / "kind", ignore=shutil.ignore_patterns("__pycache__"))
    # what a program may do is independent of data
    for path in (directory / "kind").glob("*.py"):
        path.chmod(0o400)


def _tree(directory: Path) -> None:
    """Write a result tree of MatrixBenchmarking."""
    for number in range(2):
        place = directory / f"expe/{number:03d}__test"
        place.mkdir(parents=True)
        (place / "settings.yaml").write_text(f"jobs: {number}\nmodel: m\n'@run': {number}\n")
        (place / "exit_code").write_text("0\n")
        (place / ".uuid").write_text("2f1d8f5e-0000-4000-8000-000000000000\n")
        write_list(place / "000__local_ci/artifacts/pods.json", [pod("job-1-worker-0", 0, 1.0, 2.0, 9.0)])
        write_list(place / "000__local_ci/artifacts/jobs.json", [job("job-1", 0, 1.0, 9.0)])


def _history(directory: Path) -> None:
    for day in range(7):
        values = [kpi("makespan", 10.0 + day % 3), kpi("completed_ratio", 1.0, "higher", "ratio")]
        add(directory / "history", document(day, values))
    acknowledged = "- {kpi: makespan, run: run-003, expires: 2030-01-01, reason: known}\n"
    (directory / "acknowledged.yml").write_text(acknowledged)


def _rename_by_content(directory: Path) -> None:
    """Rename a history's documents by their present contents."""
    for path in sorted((directory / "history").glob("*.json")):
        if path.is_file():
            path.rename(path.with_name(content_name(path.read_bytes())))


def _update_hashes(directory: Path) -> None:
    """Update the hashes in kept tables' documents to the present contents."""
    for path in sorted(directory.rglob("*.parsed.json")):
        with contextlib.suppress(OSError, ValueError, RecursionError, AttributeError, TypeError):
            kept = json.loads(path.read_bytes())
            kept.pop("hash", None)
            for name in kept["tables"]:
                kept["tables"][name] = content_hash((path.parent / f"{name}.parquet").read_bytes())
            path.write_text(json.dumps({**kept, "hash": own_hash(kept)}))


def _layout(directory: Path) -> None:
    _declared(directory)
    shutil.copy(LAYOUT, directory / "report.yml")


def _copied(name: str) -> Callable[[Path], object]:
    return lambda directory: shutil.copytree(FOREIGN / name, directory, dirs_exist_ok=True)


def _any(pattern: str) -> str:
    """Return the placeholder for every matching file of the input."""
    return f"{{input:{pattern}}}"


PARSED = f"--workload {DOWNLOADS}"
TARGETS: Mapping[str, Target] = {
    "scale test": Target(
        _scale_test,
        ("kpi {input}/run", "judge {input}/run --threshold lost=0", "times-csv {input}/run", "payload {input}/run"), 6,
    ),
    "matrix": Target(_matrix, ("compare {input}/run --cells", "history add {input}/run --into {scratch}/h"), 3),
    "fine-tuning": Target(_fine_tuning, ("kpi {input}/run", "parse {input}/run"), 18),
    "Prometheus beside a job": Target(_monitored, ("kpi {input}/run",), 8),
    "report": Target(_declared, (f"report {{input}}/run {PARSED}",), 2),
    "declared kind": Target(_declared, (f"kpi {{input}}/run {PARSED}", f"parse {{input}}/run {PARSED}"), 80),
    "Kubernetes objects": Target(_kubernetes_objects, ("kpi {input}/run",), 80),
    "load tests": Target(_load_tests, ("kpi {input}/run",), 20),
    "load search": Target(_load_search, ("kpi {input}/run",), 10),
    "cold starts": Target(_cold_starts, ("kpi {input}/run",), 10),
    "replicas": Target(_replicas, ("kpi {input}/run",), 10),
    "evaluation": Target(_evaluation, ("kpi {input}/run",), 10),
    "container engine": Target(_container_bench, ("kpi {input}/run",), 20),
    "boot": Target(_boot_timing, ("kpi {input}/run",), 20),
    "llama-bench": Target(_llama_bench, ("kpi {input}/run",), 20),
    "ghz": Target(_ghz, ("kpi {input}/run",), 20),
    "inference server": Target(_inference_server, ("kpi {input}/run",), 20),
    "skeleton": Target(_skeleton, ("kpi {input}/run",), 20),
    "scale test of KServe": Target(
        lambda directory: write_scale_test(directory / RUN), ("kpi {input}/run",), 20,
    ),
    "users": Target(
        lambda directory: write_users(directory / RUN / "000__cell", user_test(UserTest(4))), ("kpi {input}/run",), 20,
    ),
    "pipelines": Target(
        lambda directory: write_pipelines(directory / RUN / "000__cell", pipeline_test(PipelineTest())),
        ("kpi {input}/run",), 20,
    ),
    "kept tables": Target(
        _kept_tables, (f"kpi {{input}}/run {PARSED} --output {{input}}/report",
                       f"parse {{input}}/run {PARSED} --output {{input}}/report"), 40, _update_hashes,
    ),
    "workload.yml": Target(_workload, ("parse {input}/run --workload {input}/kind",), 30),
    "report.yml": Target(_layout, (f"report {{input}}/run --layout {{input}}/report.yml --list-plots {PARSED}",), 8),
    "MatrixBenchmarking": Target(_tree, ("import matrixbenchmarking {input} --into {scratch}/run",), 110),
    "scale-test-tool": Target(
        lambda directory: make_old_tool(directory, 12, 3),
        ("import scale-test-tool {input} --into {scratch}/run",), 145,
    ),
    "history": Target(
        _history,
        ("regress run-006 --history {input}/history --acknowledged {input}/acknowledged.yml --output {scratch}",
         "history list {input}/history", "history export {input}/history --to {scratch}/h"), 90, _rename_by_content,
    ),
    "orion": Target(
        _copied("orion"),
        ("import orion {input}/node-density.json --history {scratch}/h --orion-config {input}/config.yaml "
         "--orion-test node-density --orion-vars {{\"version\":\"4.19\"}}",), 60,
    ),
    "OpenMetrics": Target(
        _copied("openmetrics"), (f"import openmetrics {_any('*')} --history {{scratch}}/h --run r "
                                 "--started 2026-03-02T09:00:00Z --statistic last",), 100,
    ),
    "Prometheus answers": Target(
        _copied("prometheus"), (f"import prometheus {_any('*')} --into {{scratch}}/run",), 100
    ),
    "run of Prometheus answers": Target(
        _prometheus_run, ("kpi {input}/run", "history add {input}/run --into {scratch}/h"), 20
    ),
    "kube-burner": Target(
        lambda directory: node_density(directory / "folder", count=8),
        ("import kube-burner {input}/folder --into {scratch}/run",), 40,
    ),
    "run of kube-burner": Target(
        _kube_burner_run, ("kpi {input}/run", "history add {input}/run --into {scratch}/h"), 20
    ),
    "LTS": Target(_lts, ("import lts {input} --history {scratch}/h",), 40),
}  # fmt: skip
