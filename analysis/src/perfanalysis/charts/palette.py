"""The colours of layers, by their places, on the light and the dark background."""

from __future__ import annotations

LIGHT = (
    "#2f6fde", "#e08a1e", "#129a83", "#8457d6", "#1f9bc4", "#d6455d", "#7a8c1f",
    "#c2539f", "#5b6b7d", "#a8632c", "#3f52a8", "#2f8f46", "#8c3f3f",
)  # fmt: skip
DARK = (
    "#6b9cff", "#f2a54a", "#3cc9b0", "#ab87f5", "#55c3e8", "#ff7b8f", "#aabf45",
    "#e582c4", "#93a4b8", "#d1905c", "#7f90ea", "#63c47a", "#cc7b7b",
)  # fmt: skip
