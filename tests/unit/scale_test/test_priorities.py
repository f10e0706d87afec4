"""PriorityClasses exist while the workloads do, and are deleted after that in every case."""

from __future__ import annotations

import asyncio

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.endpoint import ApiEndpoint
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.api import ApiClient
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.priorities import (
    check_priorities,
    class_name,
    priority_classes,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.assortment import Priority

from .fake_api import FakeApi, fake_api
from .sessions import SUBMISSION

LOW, HIGH = Priority("low", -5), Priority("high", 1000)


async def classes_within(api: FakeApi, error: Exception | None = None) -> list[str]:
    """Return the classes that exist inside the block."""
    async with ApiClient(ApiEndpoint(api.server)) as client, priority_classes(client, SUBMISSION, "test", [LOW, HIGH]):
        if error is not None:
            raise error
        return list(api.priority_classes)


def test_priority_classes_exist_only_during_the_block() -> None:
    async def scene() -> None:
        async with fake_api() as api:
            assert await classes_within(api) == [class_name(SUBMISSION, "low"), class_name(SUBMISSION, "high")]
            assert api.priority_classes == {}
            low, high = api.priority_classes_made
            assert (low["value"], high["value"]) == (-5, 1000)
            assert low["metadata"]["labels"] == {
                "psap.perf/run": "run-1",
                "psap.perf/submission": SUBMISSION.identity,
                "psap.perf/namespace": "test",
                "app.kubernetes.io/managed-by": "psap.perf",
            }

    asyncio.run(scene())


def test_priority_classes_are_deleted_after_an_error() -> None:
    async def scene() -> None:
        async with fake_api() as api:
            with pytest.raises(RuntimeError, match="of the session"):
                await classes_within(api, RuntimeError("of the session"))
            assert len(api.priority_classes_made) == 2
            assert api.priority_classes == {}

    asyncio.run(scene())


def test_missing_right_to_create_them_is_reported() -> None:
    async def scene() -> None:
        async with fake_api() as api:
            api.classes_forbidden = True
            with pytest.raises(ClusterError, match=r"cannot create the PriorityClass .*-low: .*forbidden"):
                await classes_within(api)

    asyncio.run(scene())


@pytest.mark.parametrize(
    ("priorities", "message"),
    [
        ([Priority("Low", 0)], "'Low' needs a unique name"),
        ([Priority("", 0)], "'' needs a unique name"),
        ([LOW, Priority("low", 7)], "'low' needs a unique name"),
        ([Priority("low", 1_000_000_001)], "has the value 1000000001; at most 1000000000"),
    ],
)
def test_invalid_class_is_refused(priorities: list[Priority], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        check_priorities(priorities)


@pytest.mark.parametrize("value", [1_000_000_000, -1_000_000_000])
def test_class_values_have_inclusive_limits(value: int) -> None:
    beyond = value + (1 if value > 0 else -1)
    assert not is_refused([LOW, HIGH, Priority("most", value)])
    assert is_refused([LOW, HIGH, Priority("most", beyond)])


def is_refused(priorities: list[Priority]) -> bool:
    try:
        check_priorities(priorities)
    except UsageError:
        return True
    return False
