"""Convert the extra vars of a run once, before any variable is read."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.run.directory import runs_root
from ansible_collections.psap.perf.plugins.module_utils.settings.files import COMMAND_LINE
from ansible_collections.psap.perf.plugins.module_utils.settings.layers import EXTRA, Layer, layer, settle
from ansible_collections.psap.perf.plugins.module_utils.settings.presets import Entry
from ansible_collections.psap.perf.plugins.module_utils.settings.project import Project
from ansible_collections.psap.perf.plugins.module_utils.settings.static import find_run, replay_entries
from ansible_collections.psap.perf.plugins.module_utils.settings.survey import misread_texts, unanswered
from ansible_collections.psap.perf.plugins.module_utils.settings.types import convert_leaf
from ansible_collections.psap.perf.plugins.plugin_utils.ansible_private import (
    extra_vars,
    origin_file,
    replace_extra_vars,
    where,
)

REPLAYED_RUN = "perf_replay"


def prepare_extra_vars(project: Project, loader: Any) -> Mapping[str, Any]:
    """Convert the extra vars in Ansible's own dictionary, which overrides all values of plugins; return them.

    In a job of AWX, answers get their original texts. The arguments of a replayed run are added. Texts become values of
    the declared type, and leaves join the dictionary that the extra vars also set.

    Args:
        project: The project that declares the types.
        loader: Ansible's data loader.

    Raises:
        UsageError: If a file of extra vars has a duplicate key or is too large when expanded, or the run is missing.
    """
    given = extra_vars(loader)
    for file in dict.fromkeys(filter(None, map(origin_file, given))):
        project.read(file)
    read_from = {str(key): origin_file(key) for key in given}
    left_out = set(unanswered(given, project))
    wanted = {name: value for name, value in given.items() if name not in left_out}
    wanted |= misread_texts(wanted, project, read_from.get)
    if wanted.get(REPLAYED_RUN):
        _entries, arguments = recorded(project, str(wanted[REPLAYED_RUN]), "localhost")
        wanted = arguments | wanted
    wanted = {name: _converted(project, name, value) for name, value in wanted.items()}
    joined = settle([extra_layer(project, wanted)])
    wanted |= {name: one.value for name, one in joined.items() if one.has_leaves and name in wanted}
    replace_extra_vars(loader, wanted)
    return extra_vars(loader)


def extra_layer(project: Project, extra: Mapping[str, Any]) -> Layer:
    """Return the layer of the extra vars."""
    places = {key: where(key, project.root) or where(value, project.root) for key, value in extra.items()}
    return layer(EXTRA, [Entry(key, value, places[key] or COMMAND_LINE) for key, value in extra.items()])


@functools.lru_cache(maxsize=4096)
def recorded(project: Project, run: str, host: str) -> tuple[list[Entry], dict[str, Any]]:
    """Return the recorded values of a run for *host*: settings, and the arguments of its command line.

    Raises:
        UsageError: If the run is missing.
    """
    return replay_entries(find_run(runs_root(project.root), run), project, host)


def _converted(project: Project, name: str, value: Any) -> Any:
    """Return the value of a text; an invalid text is returned unchanged for the check to report."""
    variable, *path = name.split(".")
    option = project.option(variable) if isinstance(value, str) else None
    if option is None:
        return value
    try:
        return convert_leaf(option, tuple(path), value)
    except ValueError:
        return value
