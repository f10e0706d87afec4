"""The figures of load generators against the declared times of the lab's model server, as a Markdown table.

    perfdrv generators install aiperf
    python tests/bench/load_generators.py [--requests 200] [--users 2] [--llm-load-test PROGRAM] [--vllm PROGRAM]

Loads one model with each installed generator, one after the other, with the same settings. Prints the means of the
report, which has one definition for all generators, and those of each generator's own summary. No model and no cluster
runs: the server waits for the declared times. llm-load-test has no number of requests, so its load lasts as long as the
requests need. Nothing is asserted.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "collections"))

from aiohttp.test_utils import TestServer
from ansible_collections.psap.perf.plugins.module_utils.base.arguments import convert
from ansible_collections.psap.perf.plugins.module_utils.serving.generators.contract import Folders, Load
from ansible_collections.psap.perf.plugins.module_utils.serving.generators.installing import is_installed, program_of
from ansible_collections.psap.perf.plugins.module_utils.serving.generators.loads import invocation, load_facts
from ansible_collections.psap.perf.plugins.module_utils.serving.generators.table import generator_of, generators
from ansible_collections.psap.perf.plugins.module_utils.settings.specs import read_command
from perfanalysis.workloads.load_test.document import DEFINITIONS
from perflab.serving.models import Latency, ServedModel
from perflab.serving.openai import application
from perflab.serving.servers import Servers

from tests.bench.whole_process import PERFANALYSIS, ROOT

NAME = "declared"
TTFT_S, ITL_S, INPUT, OUTPUT = 0.1, 0.01, 20, 10
LATENCY_S = TTFT_S + (OUTPUT - 1) * ITL_S
ROLES = ROOT / "collections/ansible_collections/psap/perf/roles"
LLM_LOAD_TEST = "llm-load-test"
# ours, by the rows of the table: the KPI, and how many of its units are one of the row
ROWS = {
    "TTFT (ms)": ("ttft_mean", 1000.0),
    "ITL (ms)": ("itl_mean", 1000.0),
    "TPOT (ms)": ("tpot_mean", 1000.0),
    "request latency (ms)": ("request_latency_mean", 1000.0),
    "tokens out (/s)": ("output_tokens_per_second", 1.0),
}


@dataclass(frozen=True)
class Summary:
    """Where a generator's summary has the mean of each row: file, path, and its unit in that of the row."""

    file: str
    places: Mapping[str, tuple[str, float]]


_INFERENCE_PERF = "successes/latency/{}/mean"
_GUIDELLM = "benchmarks/0/metrics/{}/successful/mean"
SUMMARIES = {
    "aiperf": Summary(
        "profile_export_aiperf.json",
        {
            "TTFT (ms)": ("time_to_first_token/avg", 1),
            "ITL (ms)": ("inter_token_latency/avg", 1),
            "request latency (ms)": ("request_latency/avg", 1),
            "tokens out (/s)": ("output_token_throughput/avg", 1),
        },
    ),
    "guidellm": Summary(
        "benchmarks.json",
        {
            "TTFT (ms)": (_GUIDELLM.format("time_to_first_token_ms"), 1),
            "ITL (ms)": (_GUIDELLM.format("inter_token_latency_ms"), 1),
            "TPOT (ms)": (_GUIDELLM.format("time_per_output_token_ms"), 1),
            "request latency (ms)": (_GUIDELLM.format("request_latency"), 1000),
            "tokens out (/s)": (_GUIDELLM.format("output_tokens_per_second"), 1),
        },
    ),
    "inference-perf": Summary(
        "summary_lifecycle_metrics.json",
        {
            "TTFT (ms)": (_INFERENCE_PERF.format("time_to_first_token"), 1000),
            "ITL (ms)": (_INFERENCE_PERF.format("inter_token_latency"), 1000),
            "TPOT (ms)": (_INFERENCE_PERF.format("time_per_output_token"), 1000),
            "request latency (ms)": (_INFERENCE_PERF.format("request_latency"), 1000),
            "tokens out (/s)": ("successes/throughput/output_tokens_per_sec", 1),
        },
    ),
    "llm-load-test": Summary(
        "output.json",
        {
            "TTFT (ms)": ("summary/ttft/mean", 1),
            "ITL (ms)": ("summary/itl/mean", 1),
            "TPOT (ms)": ("summary/tpot/mean", 1),
            "request latency (ms)": ("summary/response_time/mean", 1),
            "tokens out (/s)": ("summary/throughput", 1),
        },
    ),
    "vllm-bench": Summary(
        "benchmark.json",
        {
            "TTFT (ms)": ("mean_ttft_ms", 1),
            "ITL (ms)": ("mean_itl_ms", 1),
            "TPOT (ms)": ("mean_tpot_ms", 1),
            "request latency (ms)": ("mean_e2el_ms", 1),
            "tokens out (/s)": ("output_throughput", 1),
        },
    ),
}


@dataclass(frozen=True)
class Figures:
    """The means of a generator by row, in the report and in its own summary."""

    ours: Mapping[str, float]
    own: Mapping[str, float]


def load_of(generator: str, url: str, asked: argparse.Namespace, folder: Path) -> Load:
    """Return the load, which is the same for all generators."""
    options = [
        option
        for name in ("serving_run_load", "shared_load_report")
        for option in read_command(ROLES / name, ROLES / name).arguments
    ]
    given = {
        "generator": generator,
        "endpoint_url": url,
        "model": NAME,
        "concurrency": asked.users,
        "requests": asked.requests,
        "input_tokens": INPUT,
        "output_tokens": OUTPUT,
        "program": programs(asked).get(generator, ""),
    }
    if generator == LLM_LOAD_TEST:
        given |= {
            "requests": 0,
            "duration": max(1, round(asked.requests * LATENCY_S / asked.users)),
            "data_file": str(write_prompts(folder / "prompts.jsonl")),
            # its filter excludes the bounds themselves
            "input_tokens_max": INPUT + 1,
            "output_tokens_max": OUTPUT + 1,
        }
    return convert({**{option.short_name: option.default for option in options}, **given}, Load)


def programs(asked: argparse.Namespace) -> Mapping[str, str]:
    """Return the programs that the user names, by generator."""
    named = {LLM_LOAD_TEST: asked.llm_load_test, "vllm-bench": asked.vllm}
    return {generator: program for generator, program in named.items() if program}


def write_prompts(path: Path) -> Path:
    """Write a data set in the format of llm-load-test; return its path."""
    prompt = {"question": "word " * INPUT, "system_prompt": "", "tok_input_length": INPUT, "tok_output_length": OUTPUT}
    lines = [{"name": NAME}, *({**prompt, "index": str(number)} for number in range(100))]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path


def measured(generator: str, url: str, asked: argparse.Namespace) -> Figures:
    """Load the model, and return the figures."""
    with tempfile.TemporaryDirectory() as name:
        folder, known = Path(name), generator_of(generator)
        artifacts = folder / "run/000__load/artifacts"
        inputs, results = folder / "inputs", artifacts / known.results_folder
        for each in (inputs, results):
            each.mkdir(parents=True)
        load = load_of(generator, url, asked, folder)
        invoked = invocation(load, Folders(str(inputs), str(results)))
        for path, content in invoked.files.items():
            (inputs / path).write_text(content)
        command = (program_of(known, load.program), *invoked.arguments)
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{generator}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
        marker = {"schema": "psap.perf/load-test/1", "lab": None, **load_facts(load)}
        (artifacts / known.marker).write_text(json.dumps(marker))
        report = folder / "report"
        done = subprocess.run(
            (*PERFANALYSIS, "kpi", str(folder / "run"), "--output", str(report)),
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        if not (report / "kpis.json").exists():
            raise SystemExit(f"{generator}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
        kpis = json.loads((report / "kpis.json").read_text())["kpis"]
        values = {kpi["name"]: kpi["value"] for kpi in kpis}
        summary = SUMMARIES[generator]
        document = json.loads((results / summary.file).read_text())
        own = {row: unit * float(at(document, place)) for row, (place, unit) in summary.places.items()}
        return Figures({row: unit * values[kpi] for row, (kpi, unit) in ROWS.items()}, own)


def at(document: Any, place: str) -> Any:
    """Return the value at a path of keys and positions."""
    return reduce(lambda found, key: found[int(key)] if key.isdecimal() else found[key], place.split("/"), document)


def table(found: Mapping[str, Figures], users: int) -> Iterator[str]:
    """Yield the lines of the table: the report's figure, and the generator's own after a slash."""
    declared = dict(zip(ROWS, (TTFT_S, ITL_S, LATENCY_S / OUTPUT, LATENCY_S), strict=False))
    shown = {row: f"{1000 * value:.1f}" for row, value in declared.items()}
    shown["tokens out (/s)"] = f"{users * OUTPUT / LATENCY_S:.1f}"
    yield f"| mean | declared | {' | '.join(found)} |"
    yield f"| --- | --- |{' --- |' * len(found)}"
    for row in ROWS:
        cells = (f"{one.ours[row]:.1f} / {text(one.own.get(row))}" for one in found.values())
        yield f"| {row} | {shown[row]} | {' | '.join(cells)} |"


def text(value: float | None) -> str:
    """Return a number of a summary."""
    return "-" if value is None else f"{value:.1f}"


def chosen(named: Collection[str]) -> Sequence[str]:
    """Return the generators that are installed or whose programs are named."""
    return [name for name, one in generators().items() if name in named or is_installed(one)]


async def serve_and_measure(asked: argparse.Namespace) -> dict[str, Figures]:
    """Load the declared server with each generator; return the figures by the generator's name."""
    servers = Servers()
    servers.set("default/pod", f"default/{NAME}", ServedModel(NAME, Latency(TTFT_S), Latency(ITL_S)))
    async with TestServer(application(servers)) as server:
        url = str(server.make_url("")).rstrip("/")
        return {name: await asyncio.to_thread(measured, name, url, asked) for name in chosen(programs(asked))}


def main() -> None:
    """Print the table and the definitions."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=200)
    parser.add_argument("--users", type=int, default=2)
    parser.add_argument("--llm-load-test", default="", metavar="PROGRAM", help="its program load-test")
    parser.add_argument("--vllm", default="", metavar="PROGRAM", help="its program vllm")
    asked = parser.parse_args()
    found = asyncio.run(serve_and_measure(asked))
    print("\n".join(table(found, asked.users)))
    for name in found:
        print(f"\n{DEFINITIONS[name]}")


if __name__ == "__main__":
    main()
