"""The program that stresses GPUs, with libraries that count instead of computing."""
# ruff: noqa: N802 - the names are those of CUDA

from __future__ import annotations

import ctypes
from types import ModuleType
from typing import Any

import pytest

from tests.programs import ROLES, loaded

PROGRAM = ROLES / "gpu_operator_run_gpu_burn/files/gpu_burn.py"
OUT_OF_MEMORY = 2


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    module = loaded(PROGRAM)
    # 16 numbers are enough to count.
    monkeypatch.setattr(module, "SIDE", 4)
    monkeypatch.setattr(module, "_BYTES", 64)
    monkeypatch.setattr(module, "_PATTERN", 4)
    return module


class Cuda:
    """libcudart and libcublas in one: a matrix is a name; a product is always the same, unless set to be wrong."""

    def __init__(self, gpus: int, free: int = 1000, wrong_at: int | None = None, sum_of_wrong: float = 1.0) -> None:
        self.gpus, self.free = gpus, free
        self.wrong_at, self.sum_of_wrong = wrong_at, sum_of_wrong
        self.allocated = self.products = 0
        self.contents: list[bytes] = []
        self.wrong: set[int] = set()

    def cudaGetDeviceCount(self, count: Any) -> int:
        count._obj.value = self.gpus
        return 0

    def cudaSetDevice(self, _index: int) -> int:
        return 0

    def cublasCreate_v2(self, _handle: Any) -> int:
        return 0

    def cudaMemGetInfo(self, free: Any, _total: Any) -> int:
        free._obj.value = self.free
        return 0

    def cudaMalloc(self, place: Any, size: ctypes.c_size_t) -> int:
        assert size.value == 64
        self.allocated += 1
        place._obj.value = self.allocated
        return 0

    def cudaMemcpy(self, _place: Any, content: bytes, size: ctypes.c_size_t, _kind: int) -> int:
        assert len(content) == size.value == 64
        self.contents.append(content)
        return 0

    def cublasSgemm_v2(self, *arguments: Any) -> int:
        result = arguments[-2].value
        self.wrong.discard(result)
        if self.products == self.wrong_at:
            self.wrong.add(result)
        self.products += 1
        return 0

    def cublasSaxpy_v2(self, *_arguments: Any) -> int:
        return 0

    def cublasSasum_v2(self, _handle: Any, _count: int, found: Any, _step: int, total: Any) -> int:
        total._obj.value = self.sum_of_wrong if found.value in self.wrong else 0.0
        return 0


def test_all_memory_is_used_without_faults(program: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    cuda = Cuda(gpus=1)
    assert program.burn_all(cuda, cuda, 0) == 0
    # Two factors, the expected product, and as many results as fit into 90 % of 1000 bytes
    assert cuda.allocated == 3 + 14
    assert cuda.products == 1 + 14
    assert len(set(cuda.contents)) == 2
    assert "GPU 0: OK, 14 products, 0 wrong" in capsys.readouterr().out


def test_burn_continues_until_its_time_is_up(program: ModuleType) -> None:
    moments = iter([0.0, 1.0, 2.0, 3.0])
    cuda = Cuda(gpus=1, free=0)
    assert program.burn(program.Gpu(cuda, cuda, 0), 2.0, lambda: next(moments)) == (3, 0)


@pytest.mark.parametrize("sum_of_wrong", [1.0, float("nan")])
def test_wrong_product_is_a_fault(program: ModuleType, capsys: pytest.CaptureFixture[str], sum_of_wrong: float) -> None:
    cuda = Cuda(gpus=1, wrong_at=5, sum_of_wrong=sum_of_wrong)
    assert program.burn_all(cuda, cuda, 0) == 1
    assert "GPU 0: FAULTY, 14 products, 1 wrong" in capsys.readouterr().out


def test_missing_gpu_is_an_error(program: ModuleType) -> None:
    cuda = Cuda(gpus=0)
    assert program.burn_all(cuda, cuda, 0) == 2


def test_failing_call_is_reported(program: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    class Full(Cuda):
        def cudaMalloc(self, _place: Any, _size: Any) -> int:
            return OUT_OF_MEMORY

    cuda = Full(gpus=2)
    assert program.burn_all(cuda, cuda, 0) == 2
    assert "GPU 1: cudaMalloc failed with 2" in capsys.readouterr().out


def test_missing_library_is_named(
    program: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(program, "LIBRARIES", ("libof-no-package.so.1",))
    assert program.main(1.0) == 2
    printed = capsys.readouterr().out
    assert printed.startswith("cannot load CUDA: libof-no-package.so.1: ")
    assert printed.endswith("; use an image with libof-no-package.so.1\n")
