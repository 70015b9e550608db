"""Collect and print the results of a benchmark run."""

import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

_ADDITIONS = 10_000_000


def print_speed() -> None:
    """Print the speed of one core, because bounds in seconds or per second depend on it."""
    began, total = time.process_time(), 0
    for number in range(_ADDITIONS):
        total += number
    seconds = time.process_time() - began
    print(f"one core: {_ADDITIONS:,} additions in {seconds:.2f} s of processor time")


@dataclass
class Row:
    """A row of the table: a measurement (`ours`), its floor, and the ratio of the two, if any.

    `met` is true if the bound was met, None if the row has no bound, and false otherwise.
    """

    name: str
    ours: str
    floor: str
    ratio: float | None
    bound: str
    met: bool | None


@dataclass
class Report:
    """The rows of a benchmark run. Each row is printed when it is added."""

    rows: list[Row] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    """The time that each group of measurements took, with its preparation."""

    def print_header(self) -> None:
        """Print the header of the table."""
        print(f"{'path':<44}{'ours':>20}{'floor':>20}{'ratio':>8}  bound")

    def add(self, row: Row) -> None:
        """Add and print a row."""
        self.rows.append(row)
        ratio = f"{row.ratio:.2f}" if row.ratio is not None else ""
        word = {True: "met", False: "MISSED", None: ""}[row.met]
        print(f"{row.name:<44}{row.ours:>20}{row.floor:>20}{ratio:>8}  {row.bound} {word}")
        sys.stdout.flush()

    def add_at_most(self, name: str, ours: str, floor: str, ratio: float, bound: float) -> None:
        """Add a row whose ratio must be at most `bound`."""
        self.add(Row(name, ours, floor, ratio, f"<= {bound}", ratio <= bound))

    def add_at_least(self, name: str, ours: str, floor: str, ratio: float, bound: float) -> None:
        """Add a row whose ratio must be at least `bound`."""
        self.add(Row(name, ours, floor, ratio, f">= {bound}", ratio >= bound))

    def add_times(
        self,
        name: str,
        seconds: float,
        floor_seconds: float,
        max_ratio: float,
        floor_label: str = "",
        digits: int = 1,
        unit: Literal["ms", "s"] = "ms",
    ) -> None:
        """Add a row of two times, whose ratio must be at most `max_ratio`; print them in `unit`."""
        factor = 1000 if unit == "ms" else 1
        ours, floor = (f"{factor * value:,.{digits}f} {unit}" for value in (seconds, floor_seconds))
        floor = f"{floor} {floor_label}".rstrip()
        self.add_at_most(name, ours, floor, seconds / floor_seconds, max_ratio)

    def add_rates(
        self,
        name: str,
        rate: float,
        floor_rate: float,
        floor_label: str,
        bound: str,
        met: bool | None,  # noqa: FBT001
    ) -> None:
        """Add a row of two rates per second."""
        ours, floor = f"{rate:,.0f}/s", f"{floor_rate:,.0f}/s {floor_label}".rstrip()
        self.add(Row(name, ours, floor, rate / floor_rate, bound, met))

    def add_action(
        self, name: str, seconds: float, floor_seconds: float, min_ratio: float, max_seconds: float
    ) -> None:
        """Add a row for an action that must take at most `max_seconds`.

        The floor's time divided by `seconds` must be at least `min_ratio`.
        """
        ratio = floor_seconds / seconds
        met = ratio >= min_ratio and seconds <= max_seconds
        ours, floor = f"{seconds:.1f} s", f"{floor_seconds:.1f} s"
        self.add(Row(name, ours, floor, ratio, f">= {min_ratio}, <= {max_seconds} s", met))

    def add_without_floor(self, name: str, ours: str, bound: str, met: bool | None) -> None:  # noqa: FBT001
        """Add a row that is not compared with a floor."""
        self.add(Row(name, ours, "", None, bound, met))

    def attempt(self, name: str, measure: Callable[[], object]) -> None:
        """Call `measure`, and record its time. If it fails, add a missed row, and do not raise."""
        began = time.perf_counter()
        try:
            measure()
        except Exception:  # noqa: BLE001 - printed and counted
            traceback.print_exc()
            self.add(Row(name, "failed", "", None, "", met=False))
        self.seconds[name] = time.perf_counter() - began

    def list_missed(self) -> list[str]:
        """Return the names of the rows whose bound was missed."""
        return [row.name for row in self.rows if row.met is False]
