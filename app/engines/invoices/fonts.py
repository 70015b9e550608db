"""Load the fonts for invoices, and replace characters that no font contains.

FiraGO has Latin, Greek, Cyrillic, Arabic, Hebrew, Thai, Georgian and Devanagari; the page images of
the service use it too. Noto Sans CJK has the Chinese, Japanese and Korean characters in the shapes
of each country. Other Noto fonts, for the remaining scripts and symbols, are tried last. Fonts from
the operating system are not used.
"""

import functools
import io
import tempfile
import unicodedata
from importlib.resources import files
from pathlib import Path

import typst
from fontTools.ttLib import TTFont
from pymupdf_fonts import FiraGO_Bold, FiraGO_Regular  # type: ignore[import-untyped]

FONT_FAMILIES = ["FiraGO", "Noto Sans CJK JP", "Noto Sans"]
"""The font families to try first. For other characters, typst searches the remaining fonts."""
_JOINERS = "\u200c\u200d"
_MODULE_FONTS = {"FiraGO-Regular.ttf": FiraGO_Regular, "FiraGO-Bold.ttf": FiraGO_Bold}
_PACKAGES = ("noto_cjk_sans_jp_regular", "manimgx_fonts")
_WARM_UP_SOURCE = b'#set text(font: "FiraGO")\na *a*'


def _list_files(package: str) -> list[Path]:
    folder = Path(str(files(package)))
    return sorted(path for path in folder.iterdir() if path.suffix in (".ttf", ".otf"))


def create_compiler() -> typst.Compiler:
    """Create a typst compiler that uses only the fonts listed in this module.

    Fonts that are embedded in a Python module are written to a temporary folder, which is deleted
    after the compiler has loaded them.
    """
    with tempfile.TemporaryDirectory() as folder:
        for name, module in _MODULE_FONTS.items():
            (Path(folder) / name).write_bytes(module.fontbuffer)
        folders = [folder, *(str(files(name)) for name in _PACKAGES)]
        compiler = typst.Compiler(
            font_paths=typst.Fonts(
                include_system_fonts=False, include_embedded_fonts=False, font_paths=folders
            ),
            ignore_system_fonts=True,
        )
        compiler.compile(input=_WARM_UP_SOURCE, format="pdf")
    return compiler


def replace_missing_glyphs(text: str) -> str:
    """Replace each character that no font contains with its code point, such as [U+20000].

    If no font contains a character together with its combining marks, the marks are replaced.
    """
    if text.isascii():
        return text
    return "".join(_replace_in_cluster(cluster) for cluster in _split_clusters(text))


def replace_uncommon_characters(text: str) -> str:
    """Replace all uncommon characters with their code points.

    A common character can be displayed on its own, and is in FiraGO or Noto Sans CJK. Use this
    function if typst still finds no font for some characters after `replace_missing_glyphs`.
    """
    return "".join(
        char if char.isascii() or _is_common(char) else _format_code_point(char) for char in text
    )


def _split_clusters(text: str) -> list[str]:
    """Split text into characters, each with the combining marks and joiners that follow it."""
    clusters: list[str] = []
    for char in text:
        if clusters and (char in _JOINERS or unicodedata.category(char).startswith("M")):
            clusters[-1] += char
        else:
            clusters.append(char)
    return clusters


def _replace_in_cluster(cluster: str) -> str:
    if cluster.isascii() or _has_font(cluster):
        return cluster
    base, marks = cluster[0], cluster[1:]
    replaced_base = base if _has_font(base) else _format_code_point(base)
    return replaced_base + "".join(map(_format_code_point, marks))


def _format_code_point(char: str) -> str:
    return f"[U+{ord(char):04X}]"


def _is_common(char: str) -> bool:
    return unicodedata.category(char)[0] in "LNPSZ" and any(
        ord(char) in font for font in _load_coverage()[:2]
    )


@functools.lru_cache(maxsize=65_536)
def _has_font(cluster: str) -> bool:
    """Return whether a single font contains all characters of a cluster."""
    codes = {ord(char) for char in cluster if char not in _JOINERS}
    return any(codes <= font for font in _load_coverage())


@functools.cache
def _load_coverage() -> list[frozenset[int]]:
    """Load each font's set of code points: FiraGO, Noto Sans CJK, and then the other Noto fonts."""
    paths = [path for package in _PACKAGES for path in _list_files(package)]
    return [_read_coverage(io.BytesIO(FiraGO_Regular.fontbuffer)), *map(_read_coverage, paths)]


def _read_coverage(file: Path | io.BytesIO) -> frozenset[int]:
    with TTFont(file, lazy=True) as font:
        return frozenset(font.getBestCmap())
