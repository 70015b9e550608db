"""Draw charts in this process and in a child, and look at the files."""

import io
import subprocess
import sys
from collections.abc import Iterator
from datetime import date, timedelta
from functools import cache

import pytest
from lxml import etree
from PIL import Image

from app.engines.charts import service as charts
from app.engines.charts.codec import decode, encode
from app.engines.charts.drawing import render_chart
from app.engines.charts.model import (
    CalibrationBin,
    CalibrationChart,
    Chart,
    ConfusionChart,
    PairChart,
    PictureFormat,
    Point,
    Series,
    TrendChart,
)
from app.engines.charts.texts import fit_text, measure_width

KINDS: list[PictureFormat] = ["png", "svg"]
HOSTILE = [
    *("$\\frac{1}{0}$", "$x^2$ costs 5$", "</text><script>alert(1)</script>", "a & b < c"),
    *("_hidden", "\u202egnp.exe", "new\nline\x00\x1b[31m", "\ud800 half", "\\def\\x{\\x}\\x"),
    *("x" * 5_000, "漢字" * 200, "e\u0301" * 300, "", " ", "\ufffe"),
]


@pytest.fixture(scope="module", autouse=True)
def _stop() -> Iterator[None]:
    yield
    charts.stop_server()


def _trend(*names: str, count: int = 20) -> TrendChart:
    days = [date(2026, 1, 1) + timedelta(days=n) for n in range(count)]
    return TrendChart(
        "Agreement of receipts",
        "Krippendorff's alpha",
        [
            Series(name, [Point(day, 0.7 + n / 100, 0.6, 0.95) for n, day in enumerate(days)])
            for name in names
        ],
        low=0.0,
        high=1.0,
    )


def _confusion(*names: str) -> ConfusionChart:
    counts = [[10 if a == b else 1 for b in range(len(names))] for a in range(len(names))]
    return ConfusionChart("Confusion", "Labeled", "Accepted", names, names, counts)


def _pairs(*names: str) -> PairChart:
    values = [(a, b, 0.5) for i, a in enumerate(names) for b in names[i + 1 :]]
    return PairChart("Pairs", "Cohen's kappa", names, values)


CALIBRATION = CalibrationChart(
    "Calibration",
    [CalibrationBin(0.05 + n / 10, min(1.0, n / 9), 10 * n + 1, 0.0, 1.0) for n in range(10)],
    0.034,
    0.8,
)
CHARTS: dict[str, Chart] = {
    "trend": _trend("Total", "Datum"),
    "calibration": CALIBRATION,
    "confusion": _confusion("invoice", "receipt", "order"),
    "pairs": _pairs("Ada", "Bo", "Cy"),
}
NOTHING: dict[str, tuple[Chart, str]] = {
    "trend": (_trend(), "No data in this period"),
    "gaps": (TrendChart("t", "u", [Series("s", [Point(date(2026, 1, 1), None)])]), "No data in"),
    "calibration": (CalibrationChart("t", [CalibrationBin(0.5, 0.5, 0)]), "No predictions"),
    "confusion": (ConfusionChart("t", "a", "b", [], [], []), "No compared values"),
    "zeros": (ConfusionChart("t", "a", "b", ["x"], ["y"], [[0]]), "No compared values"),
    "pairs": (PairChart("t", "m", ["Ada"], []), "No two people"),
}


def _read_texts(picture: bytes) -> list[str]:
    parser = etree.XMLParser(resolve_entities=False, no_network=True)
    root = etree.fromstring(picture, parser)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    tags = {etree.QName(element).localname for element in root.iter(etree.Element)}
    assert not tags & {"script", "foreignObject", "a"}
    links = [value for element in root.iter(etree.Element) for name, value in element.items()
             if etree.QName(name).localname == "href"]  # fmt: skip
    assert all(link.startswith(("#", "data:image/png;base64,")) for link in links)
    return ["".join(text.itertext()) for text in root.iter("{*}text")]


def _count_colors(picture: bytes) -> int:
    image = Image.open(io.BytesIO(picture))
    assert image.format == "PNG"
    assert 500 < image.width < 4_000
    assert 300 < image.height < 4_000
    return len(image.convert("RGB").getcolors(1 << 24) or [])


@cache
def _drawn(name: str, kind: PictureFormat) -> bytes:
    """Draw a chart in this process, once for all tests."""
    return render_chart(CHARTS[name], kind)


@pytest.mark.parametrize("name", CHARTS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_child_draws_the_same_bytes(name: str, kind: PictureFormat) -> None:
    first = charts.render(CHARTS[name], kind)
    assert first == charts.render(CHARTS[name], kind)
    assert first == _drawn(name, kind)
    if kind == "png":
        assert _count_colors(first) > 100
    else:
        assert CHARTS[name].title in _read_texts(first)


def test_bytes_depend_neither_on_the_hash_seed_nor_on_the_day() -> None:
    code = (
        "import sys; from tests.engines.charts.test_charts import CHARTS; "
        "from app.engines.charts.drawing import render_chart; "
        "[sys.stdout.buffer.write(render_chart(c, k)) for c in CHARTS.values()"
        " for k in ('png', 'svg')]"
    )
    child = subprocess.run(
        [sys.executable, "-c", code],
        # The hash seed of this process is a random one.
        env={"PYTHONHASHSEED": "1", "PATH": "", "HOME": "/nonexistent"},
        capture_output=True,
        check=True,
    )
    assert child.stdout == b"".join(_drawn(name, kind) for name in CHARTS for kind in KINDS)
    assert b"<dc:date>" not in child.stdout


@pytest.mark.parametrize("name", NOTHING)
@pytest.mark.parametrize("kind", KINDS)
def test_a_chart_without_data_says_so(name: str, kind: PictureFormat) -> None:
    chart, message = NOTHING[name]
    picture = render_chart(chart, kind)
    if kind == "png":
        assert _count_colors(picture) > 5
    else:
        assert any(text.startswith(message) for text in _read_texts(picture))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_texts_are_shown_and_not_interpreted(text: str, kind: PictureFormat) -> None:
    title = CalibrationChart(text, CALIBRATION.bins)
    labels = [_trend(text, "b"), _confusion(text, "b"), _pairs(text, "b", "c"), title]
    # All draw texts by the same functions; a PNG takes ten times as long as an SVG.
    for chart in labels if kind == "svg" else labels[:1]:
        picture = render_chart(decode(encode(chart)), kind)
        if kind == "png":
            assert _count_colors(picture) > 100
            continue
        shown = {each.strip() for each in _read_texts(picture)}
        clean = fit_text(text.encode("utf-8", "ignore").decode(), 12)
        start = clean.rstrip("…")[:8].strip()
        assert not start or any(each.startswith(start) for each in shown), shown


@pytest.mark.parametrize("kind", KINDS)
def test_too_many_lines_values_and_people_are_cut_and_counted(kind: PictureFormat) -> None:
    names = [f"name {number}" for number in range(45)]
    for chart, note in (
        (_trend(*names, count=3), "37 more lines are not shown."),
        (_trend(*names[:9], count=3), "1 more line is not shown."),
        (_confusion(*names), "15 more values are not shown."),
        (_confusion(*names[:31]), "1 more value is not shown."),
        (_pairs(*names), "15 more people are not shown."),
        (_pairs(*names[:31]), "1 more person is not shown."),
    ):
        picture = render_chart(chart, kind)
        assert kind == "png" or note in _read_texts(picture)


@pytest.mark.parametrize("count", [1, 2, 4_500])
def test_short_and_long_trends(count: int) -> None:
    assert _count_colors(render_chart(_trend("Total", count=count), "png")) > 20


def test_infinite_values_are_gaps() -> None:
    points = [
        Point(date(2026, 1, day), value, -float("inf"), float("nan"))
        for day, value in enumerate((0.5, float("inf"), float("nan"), 0.7), start=1)
    ]
    assert _count_colors(render_chart(TrendChart("t", "u", [Series("s", points)]), "png")) > 20


def test_scripts_of_dejavu_have_glyphs() -> None:
    from matplotlib.font_manager import findfont, get_font  # noqa: PLC0415

    glyphs = get_font(findfont("DejaVu Sans")).get_charmap()
    assert {ord(letter) for letter in "Ημερομηνία дата تاريخ תאריך թիվ თარიღი €"} <= set(glyphs)


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("short", 10, "short"),
        ("much too long", 8, "much to…"),
        ("漢字漢字漢字", 7, "漢字漢…"),
        ("a\n\tb  c", 10, "a b c"),
        ("\u202eab\x00c", 10, "abc"),
    ],
)
def test_texts_are_fitted(text: str, width: int, shown: str) -> None:
    assert fit_text(text, width) == shown
    assert measure_width(shown) <= width


def test_the_caller_imports_no_plotting_library() -> None:
    code = (
        "import sys, app.engines.charts.service, app.engines.agreement.metrics; "
        "sys.exit(bool({'matplotlib', 'numpy', 'scipy'} & set(sys.modules)))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
