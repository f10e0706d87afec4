"""Figures of users as pods on a lab's real node, and of its images. Nothing is asserted.

    PERF_LAB=mine python tests/bench/real_users.py [--users 20 50 100] [--images pause redis psap-perf]

For each number of users, one `local_ci run_multi` whose users run `true`: the time of the command, from the first setup
until all users were ready, between the first and the last start, and of each setup. For each image, the size of its
archive and the time of two `perflab image load`, of which the first writes the archive if the cache does not have it.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from perflab.files import places
from perflab.worker.images import PYTHON

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.integration.conftest import Lab, running_lab
from tests.integration.users.conftest import ON_REAL_NODE, SMALL

NAMESPACE = "default"
MB = 1e6


def run_users(lab: Lab, count: int) -> tuple[float, dict[str, Any]]:
    """Run the users; return the time of the command, and its result."""
    words = ("--namespace", NAMESPACE, "--image", PYTHON, *SMALL, *ON_REAL_NODE, "--ready-timeout", "10m")
    with tempfile.TemporaryDirectory() as runs:
        started = time.monotonic()
        users = ("--user-count", str(count), "--ci-command", "true")
        done = lab.run(Path(runs), "perfdrv", "toolbox", "local-ci", "run-multi", "--site", "lab", *words, *users)
        taken_s = time.monotonic() - started
        if done.returncode != 0:
            sys.exit(done.stdout + done.stderr)
        (result,) = Path(runs).glob("*/*__local_ci__run_multi/artifacts/users.json")
        return taken_s, json.loads(result.read_text())


def report_users(lab: Lab, count: int) -> None:
    """Print the figures of one number of users."""
    taken_s, document = run_users(lab, count)
    users = document["users"]
    launched = [user["launch_at_s"] for user in users]
    ready_s = max(user["ready_at_s"] for user in users) - min(user["setup_at_s"] for user in users)
    setup_s = statistics.median(user["ready_at_s"] - user["setup_at_s"] for user in users)
    figures = (
        f"{sum(user['outcome'] == 'success' for user in users)} succeeded",
        f"command {taken_s:.1f} s",
        f"all ready after {ready_s:.1f} s",
        f"started within {max(launched) - min(launched):.3f} s",
        f"median setup {setup_s:.2f} s",
        f"load average {os.getloadavg()[0]:.1f}",
    )
    print(f"{count} users: {', '.join(figures)}", flush=True)


def load(lab: Lab, image: str) -> float:
    """Load an image into the node; return the time."""
    started = time.monotonic()
    words = ("image", "load", "--name", lab.name, image)
    subprocess.run([sys.executable, "-m", "perflab", *words], check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - started


def report_image(lab: Lab, image: str) -> None:
    """Print the figures of one image."""
    first_s, again_s = load(lab, image), load(lab, image)
    archives = places.cache_root().joinpath("images").glob(f"{image}-*.tar")
    newest = max(archives, key=lambda path: path.stat().st_mtime)
    print(
        f"{image}: {newest.stat().st_size / MB:.1f} MB, loaded in {first_s:.1f} s, again in {again_s:.1f} s", flush=True
    )


def main() -> None:
    """Print the figures of the images, then of the users."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--users", type=int, nargs="*", default=[20, 50, 100])
    parser.add_argument("--images", nargs="*", default=[])
    given = parser.parse_args()
    lab = running_lab(os.environ["PERF_LAB"])
    for image in given.images:
        report_image(lab, image)
    for count in given.users:
        report_users(lab, count)


if __name__ == "__main__":
    main()
