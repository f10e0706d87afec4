"""The cells of one run as sides: by one of their settings, or each cell for itself."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from perfanalysis.drawing.wording import value_text
from perfanalysis.errors import UsageError
from perfanalysis.verdicts.comparison.sides import Recording, Side, data_errors, recording_of

if TYPE_CHECKING:
    from perfanalysis.workloads.run_analysis import RunAnalysis
    from perfanalysis.workloads.workload_type import Analysis


def sides_of_cells(result: RunAnalysis, by: str | None, baseline: str | None) -> tuple[Side, ...]:
    """A side for each value of the setting *by*, or for each cell; the first, or the one *baseline* names, leads.

    *baseline* is a value of *by*; without it a cell's number, or values as `name=value,name=value`. Cells are compared
    whose other settings are equal. Raises UsageError for a run without cells, an unknown setting or baseline.
    """
    matrix = Matrix(result)
    if not matrix.analyses:
        raise UsageError(f"{result.run.id} has no recordings of cells: there is nothing to compare with itself")
    key = None if by is None else matrix.setting(by)
    sides = _without_what_follows(matrix.by_cell() if key is None else matrix.by_value(key))
    if len(sides) < 2:
        raise UsageError(f"{result.run.id} has only {sides[0].heading}: there is nothing to compare it with")
    first = 0 if baseline is None else matrix.baseline(sides, baseline, key)
    ordered = (sides[first], *sides[:first], *sides[first + 1 :])
    return (replace(ordered[0], data_errors=data_errors(result)), *ordered[1:])


def _values(analysis: Analysis) -> Mapping[str, Any]:
    return analysis.place.cell.values if analysis.place.cell is not None else {}


@dataclass(frozen=True)
class Matrix:
    """The recordings of a run's cells."""

    result: RunAnalysis

    @property
    def analyses(self) -> tuple[Analysis, ...]:
        """Those that belong to a cell."""
        return tuple(analysis for analysis in self.result.analyses if analysis.place.cell is not None)

    @property
    def varying(self) -> tuple[str, ...]:
        """The settings in which they differ."""
        names = dict.fromkeys(name for analysis in self.analyses for name in _values(analysis))
        return tuple(name for name in names if len({value_text(_values(one).get(name)) for one in self.analyses}) > 1)

    def short(self, name: str) -> str:
        """A setting's name without that of the flow."""
        return name.removeprefix(f"{self.result.run.document.get('flow')}_")

    def setting(self, by: str) -> str:
        """The setting that a reader names, wholly or by its end."""
        fitting = [name for name in self.varying if name == by]
        fitting = fitting or [name for name in self.varying if name.endswith((f"_{by}", f".{by}"))]
        if len(fitting) == 1:
            return fitting[0]
        near = difflib.get_close_matches(by, [self.short(name) for name in self.varying], n=1, cutoff=0.4)
        raise UsageError(
            f"the cells of {self.result.run.id} do not differ in {by}; {f'did you mean {near[0]}? ' if near else ''}"
            f"they differ in {', '.join(self.varying) or 'nothing'}"
        )

    def by_value(self, key: str) -> tuple[Side, ...]:
        """A side for each value of a setting, in the order of the cells."""
        values = dict.fromkeys(value_text(_values(one).get(key)) for one in self.analyses)
        others = tuple(name for name in self.varying if name != key)
        return tuple(self._side_of_value(key, value, others) for value in values)

    def _side_of_value(self, key: str, value: str, others: Sequence[str]) -> Side:
        alike = [one for one in self.analyses if value_text(_values(one).get(key)) == value]
        name = f"{self.short(key)} {value}"
        return Side(
            method=self.result.options.method,
            name=f"{self.result.run.id}: {name}",
            recordings=tuple(self._recording(one, (key,), others) for one in alike),
            facts={key: _values(alike[0]).get(key)},
            marks=self.result.marks,
            heading=name,
        )

    def by_cell(self) -> tuple[Side, ...]:
        """A side for each cell, in their order."""
        cells = {one.place.cell.directory: one.place.cell for one in self.analyses if one.place.cell is not None}
        return tuple(
            Side(
                method=self.result.options.method,
                name=f"{self.result.run.id}: cell {cell.index}",
                recordings=tuple(
                    self._recording(one, self.varying, ())
                    for one in self.analyses
                    if one.place.cell is not None and one.place.cell.directory == directory
                ),
                facts={name: cell.values.get(name) for name in self.varying},
                marks=self.result.marks,
                status=cell.status,
                heading=f"cell {cell.index}",
            )
            for directory, cell in sorted(cells.items(), key=lambda item: item[1].index)
        )

    def _recording(self, analysis: Analysis, free: Sequence[str], told: Sequence[str]) -> Recording:
        """A recording of a cell, without the settings whose difference is what is looked at."""
        recording = recording_of(analysis, self.result.run)
        keys = {name: value for name, value in recording.keys.items() if name not in free}
        values = [f"{self.short(name)} {value_text(_values(analysis).get(name))}" for name in told]
        return replace(recording, keys=keys, label=", ".join(values) or analysis.title)

    def baseline(self, sides: Sequence[Side], text: str, key: str | None) -> int:
        """The place of the side that a reader names."""
        for place, side in enumerate(sides):
            values = {name: value_text(value) for name, value in side.facts.items()}
            named = values | {self.short(name): value for name, value in values.items()}
            parts = [part.strip().partition("=") for part in text.split(",")]
            if key is not None:
                fits = values[key] == text
            else:
                fits = side.heading in (text, f"cell {text}") or all(named.get(one) == of for one, _, of in parts)
            if fits:
                return place
        raise UsageError(f"--baseline {text}: there are only {', '.join(side.heading for side in sides)}")


def _without_what_follows(sides: Sequence[Side]) -> tuple[Side, ...]:
    """The sides without those keys of recordings that follow from what tells the sides apart, such as the model."""
    names = dict.fromkeys(name for side in sides for one in side.recordings for name in one.keys)
    values = {name: [{value_text(one.keys.get(name)) for one in side.recordings} for side in sides] for name in names}
    following = {
        name for name, found in values.items() if all(len(each) == 1 for each in found) and len(set().union(*found)) > 1
    }
    return tuple(replace(side, recordings=tuple(_without(one, following) for one in side.recordings)) for side in sides)


def _without(recording: Recording, names: set[str]) -> Recording:
    return replace(recording, keys={name: value for name, value in recording.keys.items() if name not in names})
