"""The cost of a command: twenty in one playbook, compared with one ansible-playbook process for each.

    PERF_LAB=bench python tests/bench/command_cost.py

needs a lab of that name (``perflab up --name bench --nodes 4``). Prints seconds a command; the playbook's own start is
measured with no command in it, and subtracted.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
COMMAND = "nfd_has_gpu_nodes"
MANY = 20
ROUNDS = 5

PLAY = """
- name: Twenty small commands
  hosts: sutest
  gather_facts: false
  tasks:
    - name: Run a command
      ansible.builtin.include_role:
        name: psap.perf.{command}
      loop: "{{{{ range(count | int) | list }}}}"
"""


def _seconds(playbook: Path, *words: str) -> float:
    began = time.monotonic()
    subprocess.run(
        ["ansible-playbook", str(playbook), "-i", "inventories/lab", *words],
        cwd=PROJECT,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return time.monotonic() - began


def main() -> int:
    """Measure in turn, so that a machine that slows down slows both."""
    together, apart = [], []
    with tempfile.TemporaryDirectory() as runs, tempfile.TemporaryDirectory() as folder:
        os.environ["PERF_RUNS_DIR"] = runs
        playbook = Path(folder) / "twenty.yml"
        playbook.write_text(PLAY.format(command=COMMAND))
        for _ in range(ROUNDS):
            start = _seconds(playbook, "-e", "count=0")
            together.append((_seconds(playbook, "-e", f"count={MANY}") - start) / MANY)
            apart.append(_seconds(PROJECT / "playbooks" / "toolbox.yml", "-e", f"perf_command={COMMAND}"))
    for name, taken in (("in one playbook", together), ("one process each", apart)):
        print(f"{name:>17}: median {statistics.median(taken):.3f} s a command, {min(taken):.3f} to {max(taken):.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
