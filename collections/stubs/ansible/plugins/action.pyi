"""The part of ansible-core's base of action plugins that verbs use; ansible-core has no types."""

from typing import Any

class ActionBase:
    TRANSFERS_FILES: bool
    _VALID_ARGS: frozenset[str] | None
    _task: Any
    _connection: Any
    _play_context: Any
    _loader: Any
    _templar: Any

    def __init__(
        self, task: Any, connection: Any, play_context: Any, loader: Any, templar: Any, shared_loader_obj: Any
    ) -> None: ...
    def run(self, tmp: str | None = ..., task_vars: dict[str, Any] | None = ...) -> dict[str, Any]: ...
    def validate_argument_spec(self, argument_spec: dict[str, Any]) -> tuple[Any, dict[str, Any]]: ...
    def _execute_module(
        self, module_name: str, module_args: dict[str, Any], task_vars: dict[str, Any]
    ) -> dict[str, Any]: ...
    def _find_needle(self, dirname: str, needle: str) -> str: ...
    def _low_level_execute_command(self, cmd: str, sudoable: bool = ...) -> dict[str, Any]: ...
