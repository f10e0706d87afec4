"""The colours of layers are distinct for readers with a colour vision deficiency, and visible on both backgrounds."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from perfanalysis.drawing.charts import DARK, DARK_BACKGROUND, LIGHT, LIGHT_BACKGROUND, SOLID, Layer

BACKGROUNDS = {"light": (LIGHT, LIGHT_BACKGROUND), "dark": (DARK, DARK_BACKGROUND)}
# Machado, Oliveira and Fernandes 2009, severity 1.0, for linear red, green and blue
SIGHT = {
    "every cone": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
WHITE = np.array([0.95047, 1.0, 1.08883])


def linear(*colours: str) -> NDArray[np.float64]:
    parts = np.array([[int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)] for colour in colours])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def cielab(parts: NDArray[np.float64]) -> NDArray[np.float64]:
    xyz = parts @ TO_XYZ.T / WHITE
    f = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.stack([116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])], axis=1)


@pytest.mark.parametrize("mode", BACKGROUNDS)
@pytest.mark.parametrize("sight", SIGHT)
def test_first_colours_are_distinguishable(mode: str, sight: str) -> None:
    seen = cielab(np.clip(linear(*BACKGROUNDS[mode][0][:SOLID]) @ np.array(SIGHT[sight]).T, 0, 1))
    distances = np.linalg.norm(seen[:, None] - seen[None], axis=-1) + 100 * np.eye(SOLID)
    assert distances.min() >= 20


@pytest.mark.parametrize("mode", BACKGROUNDS)
def test_every_colour_is_visible_on_its_background(mode: str) -> None:
    colours, background = BACKGROUNDS[mode]
    [ground] = linear(background) @ TO_XYZ[1]
    luminances = linear(*colours) @ TO_XYZ[1]
    contrasts = (np.maximum(luminances, ground) + 0.05) / (np.minimum(luminances, ground) + 0.05)
    assert contrasts.min() >= 3.0


def test_lines_beyond_the_palette_are_dashed() -> None:
    values = np.arange(2.0)
    kinds = [Layer("line", "", values, values, colour).dash for colour in range(len(LIGHT))]
    assert [kind != "solid" for kind in kinds] == [colour >= SOLID for colour in range(len(LIGHT))]
    assert len(LIGHT) == len(DARK)
