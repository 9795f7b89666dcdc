"""The outcome of a comparison: records, tables of them, and differences between methods."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from orthostream.experiments.novelty.estimate import Estimate
from orthostream.experiments.novelty.novelty_record import NoveltyRecord

_COLUMNS = ("AUC", "over topics", "by group", "AP", "C_min", "documents/s", "peak MB")


class NoveltyResult:
    """One record for each method in each setting.

    ``print(result)`` shows all settings as tables.

    Parameters
    ----------
    records : sequence of NoveltyRecord
    """

    def __init__(self, records: Iterable[NoveltyRecord]) -> None:
        self.records = tuple(records)
        self._places = {(record.method, record.setting): record for record in self.records}

    @property
    def methods(self) -> list[str]:
        """Their names, in the order in which they were given."""
        return list(dict.fromkeys(record.method for record in self.records))

    @property
    def settings(self) -> list[str]:
        """Their names."""
        return list(dict.fromkeys(record.setting for record in self.records))

    def record(self, method: str, setting: str) -> NoveltyRecord:
        """Return what was measured of a method in a setting."""
        if (method, setting) not in self._places:
            raise KeyError(f"no record of {method!r} in {setting!r}: there are {self.methods} in {self.settings}.")
        return self._places[method, setting]

    def joined(self, other: NoveltyResult) -> NoveltyResult:
        """Return the records of both."""
        return NoveltyResult([*self.records, *other.records])

    def difference(self, method: str, rival: str, setting: str) -> Estimate:
        """Return by how much the AUC of a method is above that of a rival.

        The difference is taken on the same documents: seed by seed where seeds change them, else draw by draw of the
        topics.
        """
        ours, theirs = self.record(method, setting), self.record(rival, setting)
        if ours.auc_over_topics is not None and theirs.auc_over_topics is not None:
            draws = np.subtract(ours.auc_over_topics.values, theirs.auc_over_topics.values)
            return Estimate.resampled(ours.auc.mean - theirs.auc.mean, draws)
        pairs = [dict(zip(one.seeds, one.auc.values, strict=True)) for one in (ours, theirs)]
        common = [seed for seed in pairs[0] if seed in pairs[1]]
        if not common:
            raise ValueError(f"{method!r} and {rival!r} have no seed in common: {ours.seeds} and {theirs.seeds}.")
        return Estimate.over_seeds([pairs[0][seed] - pairs[1][seed] for seed in common])

    def table(self, setting: str) -> str:
        """Return the records of a setting as an aligned table, with half the length of each interval."""
        found = [record for record in self.records if record.setting == setting]
        cells = [_cells(record) for record in found]
        shown = [column for column in range(len(_COLUMNS)) if any(row[column] for row in cells)]
        lines = [["", *(_COLUMNS[column] for column in shown)]]
        lines += [[record.method, *(row[column] for column in shown)] for record, row in zip(found, cells, strict=True)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        title = f"{setting}: {found[0].n_novel:g} novel documents of {found[0].n_judged:,.0f}" if found else setting
        text = [
            "  ".join(cell.rjust(width) if column else cell.ljust(width) for column, (cell, width) in enumerate(pairs))
            for pairs in (list(zip(line, widths, strict=True)) for line in lines)
        ]
        return "\n".join([title, *text])

    def __str__(self) -> str:
        """Return the tables of all settings."""
        return "\n\n".join(map(self.table, self.settings))


def _cells(record: NoveltyRecord) -> tuple[str, ...]:
    topics, memory = record.auc_over_topics, record.peak_megabytes
    return (
        str(record.auc),
        "" if topics is None else f"{topics.low:.3f}..{topics.high:.3f}",
        "" if record.group_auc is None else str(record.group_auc),
        str(record.average_precision),
        str(record.cost),
        f"{record.documents_per_second:,.0f}",
        "" if memory is None else f"{memory:.0f}",
    )
