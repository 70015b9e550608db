"""Print the table of a run."""

import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class Row:
    """One measured path and its floor; `ratio` is ours divided by the floor's.

    `met` is None if the row has no bound.
    """

    name: str
    ours: str
    floor: str
    ratio: float | None
    bound: str
    met: bool | None


@dataclass
class Report:
    """The rows of a run, printed as they are added."""

    rows: list[Row] = field(default_factory=list)

    def head(self) -> None:
        """Print the head of the table."""
        print(f"{'path':<44}{'ours':>20}{'floor':>20}{'ratio':>8}  bound")

    def add(self, row: Row) -> None:
        """Add and print a row."""
        self.rows.append(row)
        ratio = f"{row.ratio:.2f}" if row.ratio is not None else ""
        word = {True: "met", False: "MISSED", None: ""}[row.met]
        print(f"{row.name:<44}{row.ours:>20}{row.floor:>20}{ratio:>8}  {row.bound} {word}")
        sys.stdout.flush()

    def attempt(self, name: str, measure: Callable[[], object]) -> None:
        """Measure rows. An error counts as a missed row, because the other rows take long."""
        try:
            measure()
        except Exception:  # noqa: BLE001 - printed and counted
            traceback.print_exc()
            self.add(Row(name, "failed", "", None, "", met=False))

    def missed(self) -> list[str]:
        """Return the names of the rows whose bound was missed."""
        return [row.name for row in self.rows if row.met is False]
