"""Inference servers for a machine of the tests: ``python -m tests.inference_servers FOLDER`` puts them there.

A real llama.cpp with a tiny model, the real ramalama of PyPI without containers, sources that a real meson builds.
ollama and macOS' powermetrics are stand-ins, and say so.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from perflab.building.llama import MODEL, ensure_llama_cpp, model
from perflab.files import places

PROJECT = Path(__file__).resolve().parents[1]
RAMALAMA = "ramalama==0.25.0"
# the machine's own Python runs it, which has none of it
_RUN_RAMALAMA = """#!/bin/sh
PYTHONPATH={folder}/packages exec /usr/bin/python3 -c \
'import sys; from ramalama.cli import main; sys.exit(main())' "$@"
"""
# what it is asked for by our commands, and no more
_OLLAMA = """#!/usr/bin/python3
import http.server, json, os, sys, urllib.request

HOST = os.environ["OLLAMA_HOST"]
MODELS = []


class Handler(http.server.BaseHTTPRequestHandler):
    def answer(self, code, document):
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(document).encode())

    def do_GET(self):
        known = {"/": {}, "/api/tags": {"models": MODELS or None}, "/v1/models": {"data": None}}
        self.answer(200 if self.path in known else 404, known.get(self.path))

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        name = asked["model"] if ":" in asked["model"] else asked["model"] + ":latest"
        if self.path == "/api/pull":
            MODELS.append({"name": name, "digest": "d" * 64, "size": 5})
        if not any(model["name"] == name for model in MODELS):
            self.answer(404, {"error": f"model '{name}' not found"})
        else:
            self.answer(200, {"model": asked["model"], "load_duration": 250000000, "done": True})


if sys.argv[1] == "serve":
    address, _colon, port = HOST.rpartition(":")
    print("stand-in for ollama", flush=True)
    http.server.HTTPServer((address, int(port)), Handler).serve_forever()
if sys.argv[2] == "none":
    sys.exit("Error: pull model manifest: file does not exist")
asked = json.dumps({"model": sys.argv[2]}).encode()
urllib.request.urlopen(urllib.request.Request(f"http://{HOST}/api/pull", asked))
"""
_POWERMETRICS = """#!/bin/sh
echo "stand-in for powermetrics: $*"
while echo "GPU Power: 6 mW"; do sleep 1; done
"""
_SOURCES = {
    "meson.build": "project('virglrenderer', 'c')\nstatic_library('virglrenderer', 'a.c')\n",
    "a.c": "int virglrenderer(void) { return 0; }\n",
}


def copy_llama_cpp(folder: Path) -> None:
    """Copy the programs and the model to where a machine's user reads them; they are built when they are missing."""
    built = ensure_llama_cpp(places.cache_root(), lambda text: print(text, file=sys.stderr))
    shutil.copytree(built.folder / "bin", folder)
    shutil.copy(model(built), folder / MODEL)


def put(folder: Path) -> None:
    """Put all of them into *folder*."""
    copy_llama_cpp(folder)
    subprocess.run(
        ["sh", str(PROJECT / "tests/install_debian.sh"), "meson ninja-build gcc", "meson", "ninja"], check=True
    )
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    # for the machine's own Python, which may be another one: without what is compiled for this one
    packages = [RAMALAMA, "argcomplete", "jinja2", "pyyaml"]
    subprocess.run([*pip, "--target", str(folder / "packages"), *packages], check=True)
    programs = {"ramalama": _RUN_RAMALAMA.replace("{folder}", str(folder)), "ollama": _OLLAMA}
    for name, text in {**programs, "powermetrics": _POWERMETRICS}.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    (folder / "sources").mkdir()
    for name, text in _SOURCES.items():
        (folder / "sources" / name).write_text(text)
    # as the kernel writes it
    (folder / "host-visible-mm").write_text("0x0-0x1000: 4096: used\ntotal: 8192, used 4096 free 4096\n")


if __name__ == "__main__":
    put(Path(sys.argv[1]))
