"""Define the style of charts, and encode figures as files whose bytes depend only on the content.

The colors are from Okabe and Ito 2008, Color Universal Design; people with any type of color vision
can distinguish them. Lines also have different markers. The font is DejaVu Sans, a part of
matplotlib, with Latin, Greek, Cyrillic, Arabic, Hebrew, Armenian and Georgian letters. A PNG can
also contain Chinese, Japanese, Korean, Thai and Devanagari letters if the machine has the fonts in
`_FALLBACK_FONTS`. An SVG contains text elements, so a browser shows every script for which it has a
font.
"""

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.font_manager import fontManager
from matplotlib.layout_engine import ConstrainedLayoutEngine

from app.engines.charts.model import PictureFormat
from app.engines.charts.texts import fit_text

TEXT_COLOR, MUTED_COLOR, GRID_COLOR = "#1b2733", "#5b6875", "#dfe4e8"
COLORS = (
    *("#0072b2", "#d55e00", "#009e73", "#cc79a7"),
    *("#e69f00", "#56b4e9", "#000000", "#8a6d00"),
)
MARKERS = ("o", "s", "D", "^", "v", "P", "X", "h")
SEQUENTIAL_COLORMAP = LinearSegmentedColormap.from_list(
    "blues", ("#f6f9fc", "#c3dcee", "#7ab4d8", "#2b7fb8", "#0a4a7c")
)
_TITLE_WIDTH = 80
"""The maximum width of a title in characters (see `fit_text`)."""
_FALLBACK_FONTS = (
    ("Noto Sans CJK JP", "Noto Sans CJK SC", "Noto Sans JP", "WenQuanYi Micro Hei"),
    ("Noto Sans Devanagari", "Lohit Devanagari"),
    ("Noto Sans Thai", "Loma"),
)
_DPI = 144
_RC_PARAMS: dict[str, Any] = {
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9.0,
    "text.color": TEXT_COLOR,
    "text.parse_math": False,
    "text.usetex": False,
    "axes.edgecolor": "#9aa5b1",
    "axes.labelcolor": MUTED_COLOR,
    "axes.labelsize": 9.0,
    "axes.unicode_minus": True,
    "xtick.color": "#9aa5b1",
    "ytick.color": "#9aa5b1",
    "xtick.labelcolor": MUTED_COLOR,
    "ytick.labelcolor": MUTED_COLOR,
    "xtick.major.size": 3.0,
    "ytick.major.size": 0.0,
    "svg.fonttype": "none",
    "svg.hashsalt": "charts",
    "svg.id": None,
    "figure.facecolor": "white",
    "savefig.dpi": _DPI,
}


@contextmanager
def apply_style() -> Iterator[None]:
    """Apply the chart style to matplotlib in a `with` block, and then restore the settings.

    Only one thread may apply the style at a time, because matplotlib is not thread-safe.
    """
    with warnings.catch_warnings(), mpl.rc_context():
        warnings.simplefilter("ignore")  # A character without a glyph is rendered as a box.
        mpl.rcdefaults()
        mpl.rcParams.update(_RC_PARAMS)  # type: ignore[arg-type]
        mpl.rcParams["font.family"] = ["DejaVu Sans", *_find_fallback_fonts(), "sans-serif"]
        yield


@cache
def _find_fallback_fonts() -> tuple[str, ...]:
    """Find installed fonts for scripts that DejaVu lacks, one per row of `_FALLBACK_FONTS`."""
    installed_names = {font.name for font in fontManager.ttflist}
    font_names = (
        next((name for name in row if name in installed_names), None) for row in _FALLBACK_FONTS
    )
    return tuple(name for name in font_names if name)


def create_figure(title: str, width: float, height: float) -> Figure:
    """Create an empty figure with a title; `width` and `height` are in inches."""
    layout = ConstrainedLayoutEngine(w_pad=0.14, h_pad=0.12)
    figure = Figure(figsize=(width, height), layout=layout)
    title_width = min(_TITLE_WIDTH, int(width * 9.5))
    figure.suptitle(
        fit_text(title, title_width) or " ", x=0.018, ha="left", fontsize=12, fontweight="bold"
    )
    return figure


def tidy_axes(axes: Axes) -> None:
    """Remove all axis lines except the lower one, and add light horizontal grid lines."""
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.grid(axis="y", color=GRID_COLOR, linewidth=0.8)
    axes.set_axisbelow(True)


def draw_no_data_message(figure: Figure, message: str) -> None:
    """Draw a message in the middle of the figure, instead of data."""
    axes = figure.add_subplot()
    axes.set_axis_off()
    axes.text(
        0.5, 0.5, message, ha="center", va="center", fontsize=11, color=MUTED_COLOR,
        transform=axes.transAxes,
    )  # fmt: skip


def add_note(axes: Axes, note: str) -> None:
    """Write a note above the axes, aligned to the right."""
    axes.set_title(note, loc="right", fontsize=8, color=MUTED_COLOR)


def encode_figure(figure: Figure, picture_format: PictureFormat) -> bytes:
    """Encode a figure as an image file, and return the bytes."""
    buffer = io.BytesIO()
    if picture_format == "svg":
        FigureCanvasSVG(figure).print_svg(buffer, metadata={"Date": None, "Creator": None})
    else:
        FigureCanvasAgg(figure)
        figure.savefig(buffer, format="png", dpi=_DPI, metadata={"Software": None})
    return buffer.getvalue()
