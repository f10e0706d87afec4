"""The program llm-load-test: its configuration, and whether its results are any."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import DataQualityError, UsageError

OUTPUT = "output.json"
OPENAI = "openai_plugin"
_SIZES = ("min_input_tokens", "max_input_tokens", "min_output_tokens", "max_output_tokens", "max_sequence_tokens")


def configuration(asked: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Its configuration for the arguments of the command.

    :param folder: where the results go.
    :raises UsageError: when the arguments cannot be.
    """
    for name in ("concurrency", "duration", "max_queries"):
        if asked[name] < 1:
            raise UsageError(f"{name} must be at least 1, not {asked[name]}")
    return {
        "output": {"format": "json", "dir": str(folder), "file": OUTPUT},
        "storage": {"type": "local"},
        "warmup": False,
        "dataset": {
            "file": asked["dataset"],
            "max_queries": asked["max_queries"],
            **{name: asked[name] for name in _SIZES},
        },
        "load_options": {"type": "constant", "concurrency": asked["concurrency"], "duration": asked["duration"]},
        "plugin": asked["plugin"],
        "plugin_options": _plugin_options(asked),
    }


def _plugin_options(asked: Mapping[str, Any]) -> dict[str, Any]:
    options = {"use_tls": asked["use_tls"], "streaming": asked["streaming"], "model_name": asked["model_id"]}
    if asked["plugin"] == OPENAI:
        # it takes a URL for its host
        scheme = "https" if asked["use_tls"] else "http"
        return {**options, "host": f"{scheme}://{asked['host']}:{asked['port']}", "endpoint": asked["endpoint"]}
    return {**options, "interface": asked["interface"], "host": asked["host"], "port": asked["port"]}


def counted(path: Path) -> tuple[int, int]:
    """How many requests there are in its results, and how many of them failed.

    :raises DataQualityError: when there are no results, or nothing but failures.
    """
    try:
        results = json.loads(path.read_bytes())["results"]
        failed = [one for one in results if one.get("error_code") is not None or one.get("error_text")]
    except FileNotFoundError as error:
        raise DataQualityError(f"llm-load-test left no {path.name}") from error
    except (ValueError, KeyError, TypeError, AttributeError, OSError) as error:
        raise DataQualityError(f"{path.name} of llm-load-test cannot be read: {error}") from error
    if not results:
        raise DataQualityError("no request ended within the duration")
    if len(failed) == len(results):
        first = failed[0]
        why = f"{first.get('error_code')} {first.get('error_text') or ''}".strip()
        raise DataQualityError(f"all {len(results)} requests failed; the first: {why[:300]}")
    return len(results), len(failed)
