"""Reading the contents of a written page."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


def figures_in(page: Path) -> list[str]:
    """Return the names of a page's figures, in order."""
    return re.findall(r'class="charts" id="[^"]*" data-name="([^"]+)"', page.read_text())


def numbers(packed: dict[str, Any]) -> NDArray[np.float32]:
    """Return the numbers of a typed array in Plotly's format."""
    array = np.frombuffer(base64.b64decode(packed["bdata"]), dtype=packed["dtype"])
    shape = packed.get("shape")
    return array if shape is None else array.reshape([int(size) for size in shape.split(",")])
