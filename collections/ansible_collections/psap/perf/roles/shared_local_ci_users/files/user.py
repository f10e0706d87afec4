"""One user in a pod: it reports its states, starts with the others, and runs the command.

It needs Python 3.9 and no other package. ``run`` is the main container, ``serve`` the container that keeps the
artifacts; the coordinator executes ``send`` and ``release`` in that one. ``step NAME COMMAND…`` is
for the user's command.
"""

from __future__ import annotations

import http.client
import json
import os
import random
import shlex
import signal
import ssl
import subprocess
import sys
import tarfile
import threading
import time
import urllib.parse
from pathlib import Path

PLAN = Path(os.environ.get("PERF_USER_PLAN", "/mnt/plan/plan.json"))
ARTIFACTS = Path(os.environ.get("PERF_USER_ARTIFACTS", "/mnt/artifacts"))
CONTROL = Path(os.environ.get("PERF_USER_CONTROL", "/mnt/control"))
ACCOUNT = Path(os.environ.get("PERF_USER_ACCOUNT", "/var/run/secrets/kubernetes.io/serviceaccount"))
STEPS = CONTROL / "steps.jsonl"
RELEASED = CONTROL / "released"
ENDED = CONTROL / "ended"
EXPORT = Path(__file__).with_name("export.py")
GIVE_UP_S = 60.0
PATIENCE_S = 10.0
PAUSE_S = 0.2
EXPORT_AGAIN_S = 30.0
WATCH_S = 300
# of the setup and of the command when the run stops them
STOPPED_CODE = 143


def main(words: list[str]) -> int:
    """Run the step that the first word names; return the exit code."""
    if words[:1] == ["run"]:
        return User(json.loads(PLAN.read_text(encoding="utf-8"))).run()
    if words == ["serve"]:
        return serve()
    if words == ["send"]:
        return send()
    if words == ["release"]:
        RELEASED.touch()
        return 0
    if words[:1] == ["step"] and len(words) > 2:
        return step(words[1], words[2:])
    print(f"unknown arguments: {' '.join(words)}", file=sys.stderr)
    return 2


def serve() -> int:
    """Keep the artifacts until they are fetched, or the pod is deleted; send them to a store, if the plan has one."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    sends = json.loads(PLAN.read_text(encoding="utf-8"))["export"] is not None
    process, due_s = None, 0.0
    try:
        while not RELEASED.exists():
            if sends and ENDED.exists() and time.monotonic() >= due_s and (process is None or process.poll()):
                # without a coordinator, too; its own request waits for this one
                process, due_s = (
                    subprocess.Popen([sys.executable, "-B", str(EXPORT)]),
                    time.monotonic() + EXPORT_AGAIN_S,
                )
            time.sleep(PAUSE_S)
        # the program that released it shall end before
        time.sleep(1.0)
    finally:
        if process is not None:
            process.wait()
    return 0


def send() -> int:
    """Write all artifacts to the standard output, as an archive."""
    with tarfile.open(fileobj=sys.stdout.buffer, mode="w|", format=tarfile.PAX_FORMAT) as archive:
        for path in artifacts():
            archive.add(str(path), arcname=str(path.relative_to(ARTIFACTS)), recursive=False)
    return 0


def artifacts() -> list[Path]:
    """Return all files of the artifacts."""
    return [path for path in sorted(ARTIFACTS.rglob("*")) if path.is_file() and not path.is_symlink()]


def step(name: str, command: list[str]) -> int:
    """Run a step of the user's command, and record its times."""
    begun = time.time()
    note({"name": name, "start_s": begun, "end_s": None, "failed": False})
    code = subprocess.run(command, check=False).returncode
    note({"name": name, "start_s": begun, "end_s": time.time(), "failed": code != 0})
    return code if code >= 0 else 128 - code


def note(entry: dict) -> None:
    """Append an entry to the steps."""
    with STEPS.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(entry) + "\n")


def steps() -> list[dict]:
    """Return the recorded steps; an entry with an end replaces the entry of its start."""
    found: dict[tuple[str, float], dict] = {}
    if STEPS.exists():
        for line in STEPS.read_text(encoding="utf-8").splitlines():
            entry = json.loads(line)
            found[(entry["name"], entry["start_s"])] = entry
    return list(found.values())


def copy_output(source, path: Path) -> None:
    """Copy a program's output to the log of the pod and to a file."""
    with source, path.open("wb") as stream:
        for chunk in iter(lambda: source.read1(1 << 16), b""):
            stream.write(chunk)
            stream.flush()
            sys.stdout.buffer.write(chunk)
            sys.stdout.buffer.flush()


class Api:
    """The API server, with the service account of the pod."""

    def __init__(self, namespace: str) -> None:
        """Read the address from the environment."""
        self._host = os.environ["KUBERNETES_SERVICE_HOST"]
        self._port = int(os.environ.get("KUBERNETES_SERVICE_PORT", "443"))
        self._folder = f"/api/v1/namespaces/{namespace}/configmaps"
        self._context = ssl.create_default_context(cafile=str(ACCOUNT / "ca.crt"))

    def patch(self, name: str, data: dict) -> None:
        """Merge *data* into a ConfigMap, and repeat this for a minute."""
        body = json.dumps({"data": data})
        until = time.monotonic() + GIVE_UP_S
        while True:
            problem = self._patch(name, body)
            if not problem:
                return
            if time.monotonic() > until:
                raise OSError(f"cannot report to ConfigMap {name}: {problem}")
            # many users report at once
            time.sleep(random.uniform(0.1, 0.5))

    def _patch(self, name: str, body: str) -> str:
        try:
            connection, answer = self._ask("PATCH", f"/{name}", body, "application/merge-patch+json", 20.0)
            text = answer.read().decode("utf-8", "replace")
            connection.close()
        except (OSError, http.client.HTTPException) as error:
            return str(error)
        return "" if answer.status < 300 else f"{answer.status} {text[:200]}"

    def watch(self, name: str, changed) -> None:
        """Call *changed* with the data of a ConfigMap whenever it changes, without an end."""
        options = {"watch": "1", "fieldSelector": f"metadata.name={name}", "timeoutSeconds": str(WATCH_S)}
        while True:
            try:
                self._watch(f"?{urllib.parse.urlencode(options)}", changed)
            except (OSError, http.client.HTTPException, ValueError) as error:
                print(f"watching ConfigMap {name}: {error}", file=sys.stderr, flush=True)
            time.sleep(random.uniform(0.2, 1.0))

    def _watch(self, query: str, changed) -> None:
        connection, answer = self._ask("GET", query, None, "application/json", WATCH_S + 30.0)
        if answer.status != 200:
            raise OSError(f"{answer.status} {answer.read().decode('utf-8', 'replace')[:200]}")
        for line in answer:
            event = json.loads(line)
            if event["type"] in ("ADDED", "MODIFIED"):
                changed(event["object"].get("data") or {})
        connection.close()

    def _ask(self, method: str, path: str, body: str | None, kind: str, timeout_s: float) -> tuple:
        # the kubelet renews the token
        token = (ACCOUNT / "token").read_text(encoding="ascii").strip()
        connection = http.client.HTTPSConnection(self._host, self._port, timeout=timeout_s, context=self._context)
        headers = {"Authorization": f"Bearer {token}", "Content-Type": kind, "Accept": "application/json"}
        connection.request(method, self._folder + path, body, headers)
        return connection, connection.getresponse()


class User:
    """The main container."""

    def __init__(self, plan: dict) -> None:
        """Read index and plan."""
        self._plan = plan
        self._index = int(os.environ.get("JOB_COMPLETION_INDEX", "0"))
        self._api = Api(plan["namespace"])
        self._report: dict = {
            "pod": os.environ.get("PERF_USER_POD"),
            "node": os.environ.get("PERF_USER_NODE"),
            "setup_at_s": time.time(),
        }
        self._go = threading.Event()
        self._stop = threading.Event()
        self._stopped_by = ""
        self._go_at_s = 0.0
        self._ended_at_s = 0.0
        self._sending = threading.Lock()
        self._process: subprocess.Popen | None = None

    def run(self) -> int:
        """Prepare, wait for the start, run the command, and report; return the command's exit code."""
        signal.signal(signal.SIGTERM, lambda *_: self._stop_now("signal"))
        ARTIFACTS.mkdir(parents=True, exist_ok=True)
        threading.Thread(
            target=self._api.watch, args=(f"{self._plan['job']}-start", self._changed), daemon=True
        ).start()
        self._send()
        code = self._setup()
        if code == 0:
            self._report["ready_at_s"] = time.time()
            self._send()
            if self._wait_for_start():
                self._report["launch_at_s"] = time.time()
                # others report at the same time, which must not delay the command
                threading.Thread(target=self._send, daemon=True).start()
                code = self._execute(self._plan["command"], "log.txt")
            else:
                code = STOPPED_CODE
        return self._finish(code)

    def _setup(self) -> int:
        words = self._plan["setup_command"]
        return self._execute(words, "setup.log") if words else 0

    def _finish(self, code: int) -> int:
        stopped = self._stopped_by if code else ""
        self._report.update(end_at_s=self._ended_at_s or time.time(), exit_code=code, stopped=stopped, steps=steps())
        (ARTIFACTS / "exit_code").write_text(f"{code}\n", encoding="ascii")
        ENDED.touch()
        self._send()
        if code and not stopped and self._plan["abort_on_failure"]:
            self._api.patch(f"{self._plan['job']}-start", {"stop": f"user {self._index} failed"})
        return code

    def _send(self) -> None:
        # in order: the last report is the one that stays
        with self._sending:
            self._api.patch(f"{self._plan['job']}-states", {str(self._index): json.dumps(self._report)})

    def _changed(self, data: dict) -> None:
        if "go" in data and not self._go.is_set():
            self._go_at_s = float(data["go"])
            self._go.set()
        if "stop" in data:
            self._stop_now("coordinator")

    def _stop_now(self, by: str) -> None:
        """Stop; a signal is not from the coordinator: the pod is deleted or evicted."""
        if self._stop.is_set():
            return
        self._stopped_by = by
        self._stop.set()
        # the command gets some time to clean up
        threading.Thread(target=self._end_process, daemon=True).start()

    def _end_process(self) -> None:
        process = self._process
        for number in (signal.SIGTERM, signal.SIGKILL):
            if process is None or process.poll() is not None:
                return
            os.killpg(process.pid, number)
            until = time.monotonic() + PATIENCE_S
            while process.poll() is None and time.monotonic() < until:
                time.sleep(0.05)

    def _wait_for_start(self) -> bool:
        """Return whether the user may start."""
        while not self._go.wait(0.05):
            if self._stop.is_set():
                return False
        batch = self._index // self._plan["batch_size"]
        due_s = self._go_at_s + batch * self._plan["batch_delay_s"]
        return not self._stop.wait(max(due_s - time.time(), 0.0))

    def _execute(self, words: list, log: str) -> int:
        """Run a program; its output goes to the log of the pod and to a file."""
        if self._stop.is_set():
            return STOPPED_CODE
        try:
            process = subprocess.Popen(
                words, env=self._environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
            )
        except OSError as error:
            print(f"cannot run {words[0]}: {error.strerror}", flush=True)
            return 127
        self._process = process
        if self._stop.is_set():
            self._end_process()
        reader = threading.Thread(target=copy_output, args=(process.stdout, ARTIFACTS / log), daemon=True)
        reader.start()
        code = process.wait()
        self._ended_at_s = time.time()
        # a process in the background may keep the output open
        reader.join(PATIENCE_S)
        self._process = None
        return code if code >= 0 else 128 - code

    def _environment(self) -> dict:
        plan = self._plan
        added = {
            "PERF_USER_INDEX": str(self._index),
            "PERF_USER_COUNT": str(plan["count"]),
            "PERF_USER_NAME": f"{plan['user_prefix']}{self._index}",
            "PERF_USER_STEP": f"{shlex.quote(sys.executable)} {shlex.quote(__file__)} step",
            "PERF_USER_ARTIFACTS": str(ARTIFACTS),
        }
        if plan["namespace_prefix"]:
            added["PERF_USER_NAMESPACE"] = f"{plan['namespace_prefix']}{self._index}"
        if plan["seed"] is not None:
            added["PERF_USER_SEED"] = str(plan["seed"] + self._index)
        return {**os.environ, **added}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
