"""The only file that uses ansible-core's private parts: origins of values, extra vars, dead workers.

``requires_ansible`` lists the tested cores; ``tests/integration/settings`` fails for others that differ.
"""

from __future__ import annotations

import functools
import logging
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ansible._internal._datatag._tags import Origin, TrustedAsTemplate
from ansible.errors import AnsibleError
from ansible.executor.task_queue_manager import TaskQueueManager
from ansible.module_utils._internal._datatag import AnsibleTagHelper
from ansible.plugins.strategy import StrategyBase
from ansible.release import __version__ as core_version
from ansible.utils import display
from ansible.utils.display import Display
from ansible.utils.vars import load_extra_vars
from ansible_collections.psap.perf.plugins.module_utils.base.credentials import hide
from ansible_collections.psap.perf.plugins.module_utils.settings.files import COMMAND_LINE, Where, label_of

# ansible-runner, and so AWX, passes the command line's variables in this file
_RUNNER_FILE = ("env", "extravars")


def origin_file(value: object) -> Path | None:
    """Return the file that *value* was read from; None if it has no tag."""
    tag = Origin.get_tag(value)
    return Path(tag.path) if tag is not None and tag.path else None


def where(value: object, root: Path) -> Where | None:
    """Return the place of *value*, or None if it has no tag, like booleans, nulls and results."""
    tag = Origin.get_tag(value)
    if tag is None or tag is Origin.UNKNOWN:
        return None
    if tag.path is None:
        return Where("command line" if "CLI" in str(tag.description) else str(tag.description), tagged=value)
    label = _label(tag.path, root)
    return Where(label, None if label == COMMAND_LINE.label else tag.line_num, tagged=value)


@functools.cache
def _label(path: str, root: Path) -> str:
    """Return the file's own path: group_vars are read through a link beside the playbooks."""
    if Path(path).parts[-2:] == _RUNNER_FILE:
        return COMMAND_LINE.label
    return label_of(Path(path).resolve(), root.resolve())


def extra_vars(loader: Any) -> dict[str, Any]:
    """Return the extra vars, in the order of the command line: the dictionary that Ansible reads at every task."""
    variables: dict[str, Any] = load_extra_vars(loader)
    return variables


def replace_extra_vars(loader: Any, wanted: Mapping[str, Any]) -> None:
    """Make *wanted* the extra vars in force; a changed value keeps the origin of the value that it replaces.

    Raises:
        AnsibleError: If this core does not keep one dictionary of extra vars.
    """
    variables = extra_vars(loader)
    for name in [name for name in variables if name not in wanted]:
        del variables[name]
    for name, value in wanted.items():
        if name not in variables or value is None or isinstance(value, bool):
            variables[name] = value
        elif value is not variables[name]:
            variables[name] = AnsibleTagHelper.tag_copy(variables[name], value)
    if extra_vars(loader) != wanted:
        raise AnsibleError(
            f"ansible-core {core_version} does not let psap.perf convert extra vars to their declared types; "
            "use ansible-core 2.19 to 2.21"
        )


def show(text: str) -> None:
    """Print a line of Ansible's output, also from a worker.

    In a job of AWX ansible-runner wraps ``Display.display``. Before release 2.4.2 the wrapper writes to the stdout of
    the worker, about which Ansible warns. The main process displays the texts in the queue.
    """
    line = Display()
    if line._final_q is None:
        line.display(text)
    else:
        line._final_q.send_display("display", text)


def tagged_at(value: Any, path: Path, line: int | None) -> Any:
    """Return *value* tagged as read from *path*, so that Ansible renders its templates and has its origin."""
    if isinstance(value, Mapping):
        inner: Any = {key: tagged_at(item, path, line) for key, item in value.items()}
    elif isinstance(value, list):
        inner = [tagged_at(item, path, line) for item in value]
    else:
        inner = value
    if inner is None or isinstance(inner, bool):
        return inner
    tags: list[Any] = [Origin(path=str(path), line_num=line)]
    if isinstance(inner, str):
        tags.append(TrustedAsTemplate())
    return AnsibleTagHelper.tag(inner, tags)


class RunLogFile(logging.FileHandler):
    """Ansible's log in the run directory; stores the last error, which may be the reason why Ansible exits."""

    def __init__(self, path: Path) -> None:
        """Append to *path*."""
        super().__init__(path, encoding="utf-8")
        self.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
        self.last_error: str | None = None

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, without credentials."""
        return hide(super().format(record))

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line."""
        if record.levelno >= logging.ERROR:
            self.last_error = record.getMessage()
        super().emit(record)


def log_to(path: Path) -> RunLogFile:
    """Make Ansible also log to *path*: the run directory is unknown when ansible.cfg is read."""
    handler = RunLogFile(path)
    logger = logging.getLogger("ansible")
    logger.setLevel(logging.INFO)
    logger.addHandler(handler)
    display.logger = logger
    return handler


def notice_dead_workers(died: Callable[[Any, Any, int], None]) -> None:
    """Make every strategy stop if a worker dies without a result, which only ``linear`` does by itself.

    ``free`` and ``host_pinned`` would wait indefinitely. A custom strategy could check too, but Ansible deprecates
    those.

    Args:
        died: Called with the host, the task, and the exit code of the worker, negative for a signal.
    """
    process_results = StrategyBase._process_pending_results

    def has_dead_workers(manager: Any) -> bool:
        for worker in manager.get_workers():
            if worker is not None and worker.exitcode:
                died(worker._host, worker._task, worker.exitcode)
                return True
        return False

    def process_results_of_the_living(strategy: Any, *arguments: Any, **options: Any) -> Any:
        if has_dead_workers(strategy._tqm):
            raise AnsibleError("a worker was found in a dead state")
        return process_results(strategy, *arguments, **options)

    TaskQueueManager.has_dead_workers = has_dead_workers
    StrategyBase._process_pending_results = process_results_of_the_living


def call_while_tasks_run(act: Callable[[], None], every_s: float) -> None:
    """Make every strategy call *act* at most every *every_s* seconds while it waits for tasks.

    Callbacks are called only when a task ends, and a task may last for hours.
    """
    process_results, called_at = StrategyBase._process_pending_results, 0.0

    def process_results_and_act(strategy: Any, *arguments: Any, **options: Any) -> Any:
        nonlocal called_at
        if time.monotonic() - called_at >= every_s:
            called_at = time.monotonic()
            act()
        return process_results(strategy, *arguments, **options)

    StrategyBase._process_pending_results = process_results_and_act
