"""A synthetic history of two nightly flows with planted changes, judged night by night as the driver does.

Each KPI has 3 % of normal noise with a fixed seed. From the planted night on, a KPI is worse by the planted share.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from perfanalysis.results.history.documents import Entry, entries_of
from perfanalysis.verdicts.regression.verdict import Options, regress
from perfanalysis.verdicts.regression.watched import Acknowledged

from tests.unit.analysis.histories import document, kpi

NIGHTS, PLANTED, DRIFTS_FROM, OTHER_SETTING = 60, 40, 20, 50
NOISE = 0.03
# a history from before the first judged night
FIRST = 4
FLOWS: Mapping[str, str] = {"scale_test": "scale_test_count", "kserve": "kserve_load_test_users"}


def factor(name: str, night: int) -> float:
    """Return the planted factor of a KPI in a night."""
    after = night >= PLANTED
    known = {
        "step_5": 1.05 if after else 1.0,
        "step_20": 1.2 if after else 1.0,
        # 20 % in the last night
        "drift": 1 + 0.2 * max(0, night - DRIFTS_FROM) / (NIGHTS - 1 - DRIFTS_FROM),
        "outlier": 1.5 if night == PLANTED else 1.0,
        "renamed": 1.2 if after else 1.0,
        "of_setting": 1.3 if night >= OTHER_SETTING else 1.0,
    }
    return known.get(name, 1.0)


PLANTS = ("step_5", "step_20", "drift", "outlier", "renamed")


def nights(flow: str, flat: int, seed: int) -> Iterator[tuple[Entry, ...]]:
    """Yield the entries of each night; the flow kserve changes a key setting in the night OTHER_SETTING."""
    random = np.random.default_rng(seed)
    names = (*PLANTS, *(("of_setting",) if flow == "kserve" else ()), *(f"flat_{number:03d}" for number in range(flat)))
    for night in range(NIGHTS):
        noise = random.normal(1, NOISE, len(names))
        kpis = []
        for name, one in zip(names, noise, strict=True):
            shown = f"renamed_{'new' if night >= PLANTED else 'old'}" if name == "renamed" else name
            kpis.append(kpi(shown, 100 * factor(name, night) * float(one)))
        keys = {FLOWS[flow]: 200 if flow == "kserve" and night >= OTHER_SETTING else 100}
        yield entries_of(document(night, kpis, flow=flow, keys=keys))


@dataclass
class Found:
    """The result of a flow.

    Attributes:
        alarms: By KPI, the nights in which it was worse or better.
        false: The alarms of flat series, as pairs of KPI and first run of the change.
        judged: The number of judgements of flat series.
    """

    alarms: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    false: set[tuple[str, str]] = field(default_factory=set)
    judged: int = 0

    def document(self) -> dict[str, Any]:
        """Return the planted KPIs with the first night and the number of nights of their alarms."""
        return {name: (found[0], len(found)) for name, found in self.alarms.items() if not name.startswith("flat_")}


def judge_nights(flow: str, flat: int, seed: int) -> Found:
    """Judge each night by the nights before it."""
    history: list[Entry] = []
    found = Found()
    for night, current in enumerate(nights(flow, flat, seed)):
        if night >= FIRST:
            for each in regress(current, history, Options(), Acknowledged()).kpis():
                name = each.kpi.series
                found.judged += name.startswith("flat_")
                if each.word not in ("worse", "better"):
                    continue
                found.alarms[name].append(night)
                if name.startswith("flat_") and each.change is not None:
                    found.false.add((name, each.change.first.run))
        history.extend(current)
    return found
