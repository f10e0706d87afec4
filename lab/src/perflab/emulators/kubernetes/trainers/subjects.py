"""Models and data sets, by their names: the size of models and of data sets."""

from __future__ import annotations

import re
from dataclasses import dataclass

_MIXTURE = re.compile(r"(?<![\d.])(\d+)x(\d+(?:\.\d+)?)b(?![a-z])")
_SIZE = re.compile(r"(?<![\d.])(\d+(?:\.\d+)?)([bm])(?![a-z])")
_SAMPLES = re.compile(r"(?<![\d.])(\d+)(k?)[-_]?samples")
_UNIT = {"b": 1e9, "m": 1e6}
_LAYERS_OF_7B, _WIDTH_OF_7B = 32, 4096


@dataclass(frozen=True, slots=True)
class Model:
    """A transformer: all parameters, those that a token meets, and its shape."""

    parameters: float
    active: float
    layers: float
    width: float


@dataclass(frozen=True, slots=True)
class Dataset:
    """Samples, and tokens of one of them: the mean and the longest."""

    samples: int
    mean_tokens: float
    longest_tokens: int


# by the beginning of the file's name; samples as their authors state them, tokens rounded
_KNOWN = {
    "alpaca_gpt4": Dataset(52_002, 180.0, 1_100),
    "alpaca": Dataset(52_002, 110.0, 1_100),
    "databricks-dolly": Dataset(15_011, 190.0, 4_000),
    "gsm8k": Dataset(7_473, 190.0, 600),
    "oasst1": Dataset(9_846, 420.0, 2_000),
    "openassistant-guanaco": Dataset(9_846, 420.0, 2_000),
    "twitter_complaints_small": Dataset(50, 60.0, 120),
    "twitter_complaints": Dataset(3_399, 60.0, 120),
    "ultrachat_200k": Dataset(207_865, 1_150.0, 4_000),
}
_OTHER = Dataset(10_000, 256.0, 1_024)


def model_of(name: str) -> tuple[Model, str]:
    """Return the model of that name, and assumptions about it (empty if the name contains its size)."""
    mixture, size = _MIXTURE.search(name.lower()), _SIZE.search(name.lower())
    if mixture:
        # attention exists once, and a token uses two experts
        experts, each = int(mixture[1]), float(mixture[2]) * 1e9
        return _shaped(0.83 * experts * each, 1.8 * each), ""
    if size:
        return _shaped(float(size[1]) * _UNIT[size[2]], float(size[1]) * _UNIT[size[2]]), ""
    return _shaped(7e9, 7e9), f"the name {name or '(none)'} contains no size: 7b parameters are assumed"


def _shaped(parameters: float, active: float) -> Model:
    # layers and width grow alike, and parameters are 12 layers width²
    scale: float = (active / 7e9) ** (1 / 3)
    return Model(parameters, active, _LAYERS_OF_7B * scale, _WIDTH_OF_7B * scale)


def dataset_of(name: str, replication: float) -> tuple[Dataset, str]:
    """Return the data set of that file name, repeated, and assumptions about it (empty if it is known)."""
    known = next((dataset for begin, dataset in _KNOWN.items() if name.lower().startswith(begin)), None)
    stated = _SAMPLES.search(name.lower())
    found, assumed = known or _OTHER, ""
    if stated and not known:
        found = Dataset(int(stated[1]) * (1000 if stated[2] else 1), _OTHER.mean_tokens, _OTHER.longest_tokens)
        assumed = f"samples of {name} are assumed to have {found.mean_tokens:g} tokens"
    elif not known:
        size = f"{found.samples} samples of {found.mean_tokens:g} tokens"
        assumed = f"the size of {name or 'the data set'} is unknown: {size} are assumed"
    samples = max(1, round(found.samples * replication))
    return Dataset(samples, found.mean_tokens, found.longest_tokens), assumed
