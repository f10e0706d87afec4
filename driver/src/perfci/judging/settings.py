"""The settings of the judgement of a run by its history."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from ansible_collections.psap.perf.plugins.module_utils.exporting.run_export import ExportSettings
from perfanalysis.files.documents import listing, mapping
from perfanalysis.verdicts.comparison.commands import share
from perfanalysis.verdicts.regression.commands import pair
from perfanalysis.verdicts.regression.methods import Method
from perfanalysis.verdicts.regression.series import Selection
from perfanalysis.verdicts.regression.verdict import Options
from perfanalysis.verdicts.regression.watched import Acknowledged, read_acknowledged, read_watched

Push = Literal["never", "success", "always"]
Fails = Literal["never", "worse", "unjudged"]
_FAILING: Mapping[str, tuple[int, ...]] = {"never": (), "worse": (4, 5), "unjudged": (4, 5, 6)}


@dataclass(frozen=True, slots=True)
class HistorySettings:
    """The settings `history_…`, and the access to S3 of the settings `export_…`.

    Attributes:
        source: A folder, `s3://BUCKET/PREFIX` or the URL of OpenSearch; empty for none.
        password: A reference to a secret; empty for the credentials of the environment.
    """

    source: str = ""
    push: Push = "success"
    push_pull_requests: bool = False
    required: bool = False
    prefix: str = "psap-perf"
    authority: str = ""
    user: str = ""
    password: str = ""
    store: ExportSettings = field(default_factory=ExportSettings)

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> HistorySettings:
        """Return the values of settings by their names; missing ones have their defaults."""
        known = {name: values.get(f"history_{name}") for name in cls.__dataclass_fields__ if name != "store"}
        given = {name: value for name, value in known.items() if value is not None}
        return cls(**given, store=ExportSettings.of(values))


@dataclass(frozen=True, slots=True)
class RegressSettings:
    """The settings `regress_…`."""

    enabled: bool = True
    fails: Fails = "worse"
    against: Mapping[str, Any] = field(default_factory=dict)
    method: Method = "change-point"
    margin: str = "5%"
    recent: int = 5
    watch: str = ""
    acknowledged: str = ""

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> RegressSettings:
        """Return the values of settings by their names; missing ones have their defaults."""
        known = {name: values.get(f"regress_{name}") for name in cls.__dataclass_fields__}
        return cls(**{name: value for name, value in known.items() if value is not None})

    def options(self) -> Options:
        """Return the options of the judgement.

        Raises:
            UsageError: A setting is invalid, or the file of watched KPIs cannot be read.
        """
        against = {name: tuple(map(str, listing(value))) for name, value in mapping(self.against).items()}
        selection = Selection(
            frozenset(against.get("compare", ())),
            frozenset(against.get("ignore", ())),
            against.get("sort_by", ()),
            frozenset(against.get("same", ())),
            tuple(map(pair, against.get("skip", ()))),
        )
        watched = read_watched(Path(self.watch).expanduser()) if self.watch else ()
        return Options(self.method, share(self.margin), self.recent, selection, watched)

    def accepted(self) -> Acknowledged:
        """Return the acknowledged changes that are valid today, and the expired ones.

        Raises:
            UsageError: The file cannot be read.
        """
        today = datetime.datetime.now(datetime.UTC).date()
        return read_acknowledged(Path(self.acknowledged).expanduser(), today) if self.acknowledged else Acknowledged()

    def exit_code(self, found: int) -> int:
        """Return the exit code of a run whose judgement ended with the exit code *found*."""
        return found if found in _FAILING[self.fails] else 0
