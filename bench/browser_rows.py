"""Measure the workbench in a browser whose processor is four times slower."""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.report import Report, Row
from bench.service import ROOT, Service
from tests.workbench.driver import Walker

_WALKS = Path(__file__).parent / "walks"
_ROUNDS = 5
_FIRST_PAINT_MS = 1_000
_HOME_MS = 2_000
_LABEL_MS = 1_500
_KEY_MS = 50
_LONG_FRAMES = 0.05
_SCRIPT_BYTES = 250_000


def measure(report: Report, service: Service) -> None:
    """Report how fast the start page and the label screen are, and the size of scripts."""
    password = os.environ.get("DEMO_PASSWORD") or _read_password(service)
    with TemporaryDirectory(prefix="labeling-bench-pictures-") as pictures:
        mail = Path(service.environ["DATA_DIR"]) / "mail"
        walker = Walker(service.base, password, mail, Path(pictures))
        try:
            times = walker.walk(_WALKS / "start.mjs", "measure", times=_ROUNDS)
            start = ROOT / "tests" / "workbench" / "walks" / "start.mjs"
            label = walker.walk(_WALKS / "label.mjs", "measure")
            scripts = walker.walk(start, "the_first_page_needs_little_javascript")
        finally:
            walker.close()
    _add_time(report, "workbench: first paint, slowed 4 times", times["signIn"], _FIRST_PAINT_MS)
    _add_time(report, "workbench: start page, slowed 4 times", times["home"], _HOME_MS)
    name = "workbench: label screen of 10 pages, slowed 4 times"
    _add_time(report, name, label["opening"], _LABEL_MS)
    _add_time(report, "workbench: key press until painted, 95 %", label["typing"], _KEY_MS)
    share = label["panning"]
    bound = f"< {_LONG_FRAMES:.0%}"
    name = "workbench: long frames, panning 5,000 words"
    report.add(Row(name, f"{share:.1%}", "", None, bound, share < _LONG_FRAMES))
    is_small = scripts <= _SCRIPT_BYTES
    size = f"{scripts / 1000:,.0f} kB"
    bound = f"<= {_SCRIPT_BYTES / 1000:,.0f} kB"
    report.add(Row("workbench: initial JavaScript, compressed", size, "", None, bound, is_small))


def _add_time(report: Report, name: str, milliseconds: float, bound: int) -> None:
    met = milliseconds < bound
    report.add(Row(name, f"{milliseconds:,.0f} ms", "", None, f"< {bound:,} ms", met))


def _read_password(service: Service) -> str:
    lines = (Path(service.environ["DATA_DIR"]) / "secrets.env").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line)["DEMO_PASSWORD"]
