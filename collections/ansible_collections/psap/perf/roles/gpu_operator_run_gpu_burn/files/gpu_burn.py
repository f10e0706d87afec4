"""Multiplies the same matrices repeatedly on every GPU; a result that differs from the first is a fault.

Runs in a pod with Python and CUDA's libraries only: `python3 gpu_burn.py SECONDS`. Exit code 1: a GPU is faulty;
2: no GPU, or CUDA does not work.
"""

from __future__ import annotations

import array
import ctypes
import random
import sys
import threading
import time
from typing import Any

LIBRARIES = ("libcudart.so.12", "libcublas.so.12")
SIDE = 8192
_BYTES = 4 * SIDE * SIDE
_PATTERN = 1 << 20
# share of the free memory; the libraries need the rest
_SHARE = 0.9
_TO_DEVICE = 1
_NOT_TRANSPOSED = 0


class CudaError(Exception):
    """Raised if a call of CUDA fails."""


class Gpu:
    """One GPU, used by one thread."""

    def __init__(self, runtime: Any, blas: Any, index: int) -> None:
        """Use the GPU *index*; *runtime* is libcudart, *blas* is libcublas."""
        self._runtime = runtime
        self._blas = blas
        self._call(runtime.cudaSetDevice, index)
        self._handle = ctypes.c_void_p()
        self._call(blas.cublasCreate_v2, ctypes.byref(self._handle))

    def free_bytes(self) -> int:
        """Return the size of the free memory."""
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        self._call(self._runtime.cudaMemGetInfo, ctypes.byref(free), ctypes.byref(total))
        return free.value

    def matrix(self, content: bytes | None = None) -> ctypes.c_void_p:
        """Return a new matrix; uninitialized without *content*."""
        place = ctypes.c_void_p()
        self._call(self._runtime.cudaMalloc, ctypes.byref(place), ctypes.c_size_t(_BYTES))
        if content is not None:
            self._call(self._runtime.cudaMemcpy, place, content, ctypes.c_size_t(len(content)), _TO_DEVICE)
        return place

    def multiply(self, left: ctypes.c_void_p, right: ctypes.c_void_p, result: ctypes.c_void_p) -> None:
        """Write *left* times *right* to *result*."""
        one, zero = ctypes.c_float(1.0), ctypes.c_float(0.0)
        sides = [SIDE] * 3
        operands = (ctypes.byref(one), left, SIDE, right, SIDE, ctypes.byref(zero), result, SIDE)
        self._call(self._blas.cublasSgemm_v2, self._handle, _NOT_TRANSPOSED, _NOT_TRANSPOSED, *sides, *operands)

    def difference(self, expected: ctypes.c_void_p, found: ctypes.c_void_p) -> float:
        """Return the sum of the absolute differences, which overwrite *found*; 0 for equal matrices."""
        minus, total = ctypes.c_float(-1.0), ctypes.c_float()
        count = SIDE * SIDE
        self._call(self._blas.cublasSaxpy_v2, self._handle, count, ctypes.byref(minus), expected, 1, found, 1)
        self._call(self._blas.cublasSasum_v2, self._handle, count, found, 1, ctypes.byref(total))
        return total.value

    @staticmethod
    def _call(function: Any, *arguments: Any) -> None:
        status = function(*arguments)
        if status:
            raise CudaError(f"{getattr(function, '__name__', 'a call')} failed with {status}")


def burn(gpu: Gpu, until: float, clock: Any = time.monotonic) -> tuple[int, int]:
    """Stress *gpu* until *until*, at least once; return the number of products and of wrong products."""
    left, right = gpu.matrix(_content(1)), gpu.matrix(_content(2))
    expected = gpu.matrix()
    gpu.multiply(left, right, expected)
    results = [gpu.matrix() for _number in range(max(1, int(gpu.free_bytes() * _SHARE) // _BYTES))]
    products = faults = 0
    while not products or clock() < until:
        for result in results:
            gpu.multiply(left, right, result)
        for result in results:
            # NaN is a fault too
            faults += gpu.difference(expected, result) != 0
        products += len(results)
    return products, faults


def _content(seed: int) -> bytes:
    """Return a matrix of numbers between -1 and 1 that repeats one pattern; equal for equal seeds."""
    numbers = random.Random(seed)
    pattern = array.array("f", (numbers.uniform(-1, 1) for _number in range(_PATTERN)))
    return pattern.tobytes() * (SIDE * SIDE // _PATTERN)


def burn_all(runtime: Any, blas: Any, seconds: float) -> int:
    """Stress all GPUs concurrently and return the exit code."""
    count = ctypes.c_int()
    if runtime.cudaGetDeviceCount(ctypes.byref(count)) or not count.value:
        print("no GPU that CUDA can use", flush=True)
        return 2
    codes: dict[int, int] = {}
    threads = [
        threading.Thread(target=_one, args=(runtime, blas, index, seconds, codes)) for index in range(count.value)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return max(codes.values())


def _one(runtime: Any, blas: Any, index: int, seconds: float, codes: dict[int, int]) -> None:
    codes[index] = 2
    began = time.monotonic()
    try:
        products, faults = burn(Gpu(runtime, blas, index), began + seconds)
    except CudaError as error:
        print(f"GPU {index}: {error}", flush=True)
        return
    took_s = time.monotonic() - began
    tflops = products * 2 * SIDE**3 / took_s / 1e12
    verdict = "FAULTY" if faults else "OK"
    print(f"GPU {index}: {verdict}, {products} products, {faults} wrong, {tflops:.1f} TFLOP/s", flush=True)
    codes[index] = 1 if faults else 0


def main(seconds: float) -> int:
    """Stress all GPUs with the libraries of the image and return the exit code."""
    try:
        runtime, blas = map(ctypes.CDLL, LIBRARIES)
    except OSError as error:
        print(f"cannot load CUDA: {error}; use an image with {' and '.join(LIBRARIES)}", flush=True)
        return 2
    return burn_all(runtime, blas, seconds)


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1])))
