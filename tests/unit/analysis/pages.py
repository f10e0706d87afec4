"""What stands in a written page."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


def figures_in(page: Path) -> list[str]:
    """The names of a page's figures, in order."""
    return re.findall(r'class="charts" id="[^"]*" data-name="([^"]+)"', page.read_text())


def numbers(packed: dict[str, Any]) -> NDArray[np.float32]:
    """The numbers of a typed array as Plotly takes it."""
    array = np.frombuffer(base64.b64decode(packed["bdata"]), dtype=packed["dtype"])
    shape = packed.get("shape")
    return array if shape is None else array.reshape([int(size) for size in shape.split(",")])
