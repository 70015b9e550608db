"""The table that a run prints."""

import sys
from dataclasses import dataclass, field


@dataclass
class Row:
    """One measured path beside its floor. `ratio` ours to the floor's; `met` None: no bound."""

    name: str
    ours: str
    floor: str
    ratio: float | None
    bound: str
    met: bool | None


@dataclass
class Report:
    """Rows as they come, printed as they come."""

    rows: list[Row] = field(default_factory=list)

    def head(self) -> None:
        """The table's head."""
        print(f"{'path':<44}{'ours':>20}{'floor':>20}{'ratio':>8}  bound")

    def add(self, row: Row) -> None:
        """Take and print a row."""
        self.rows.append(row)
        ratio = f"{row.ratio:.2f}" if row.ratio is not None else ""
        word = {True: "met", False: "MISSED", None: ""}[row.met]
        print(f"{row.name:<44}{row.ours:>20}{row.floor:>20}{ratio:>8}  {row.bound} {word}")
        sys.stdout.flush()

    def missed(self) -> list[str]:
        """The names of the rows whose bound was not met."""
        return [row.name for row in self.rows if row.met is False]
