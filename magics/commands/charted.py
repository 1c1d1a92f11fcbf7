"""A table with a chart above it. For a program it is the table; as text only, too."""

from __future__ import annotations

from dataclasses import dataclass

from magics.commands.table import Table


@dataclass(frozen=True, slots=True, repr=False)
class Charted(Table):
    """``chart`` is HTML that somebody else has made safe; every figure in it stands in the table as well."""

    chart: str = ""

    def _repr_html_(self) -> str:
        return self.chart + Table._repr_html_(self)


def charted(table: Table, chart: str) -> Charted:
    """`table` with that above it."""
    return Charted(table.columns, table.rows, table.value, table.note, chart, most=table.most)
