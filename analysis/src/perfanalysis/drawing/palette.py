"""The colours of layers, by their places, on the light and the dark background.

Any two of the first SOLID differ by a CIE76 distance of at least 20, for readers who see all colours and for those
without one kind of cones: protanopia, deuteranopia and tritanopia, as simulated by Machado, Oliveira and Fernandes
(2009) at full severity. Every colour has a contrast of at least 3 : 1 to its background, as WCAG 2.2 asks of graphics.
Lines in further colours are dashed, so that nobody needs the colour alone.
"""

from __future__ import annotations

LIGHT = (
    "#2f3ff0", "#df7400", "#14a08a", "#a05ad8", "#103a5c", "#8a0f2a", "#93935f",
    "#c2539f", "#5b6b7d", "#a8632c", "#3f52a8", "#2f8f46", "#8c3f3f",
)  # fmt: skip
DARK = (
    "#7aa1ff", "#e18718", "#34e1ad", "#7e59f6", "#c6e5ff", "#d9455f", "#efe07a",
    "#e582c4", "#93a4b8", "#d1905c", "#7f90ea", "#63c47a", "#cc7b7b",
)  # fmt: skip
SOLID = 7
LIGHT_BACKGROUND, DARK_BACKGROUND = "#ffffff", "#171e28"
