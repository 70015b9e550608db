"""Find the fonts of documents, and replace characters that none of them has.

FiraGO, which page images use too, has Latin, Greek, Cyrillic, Arabic, Hebrew, Thai, Georgian and
Devanagari. Noto Sans CJK has Chinese, Japanese and Korean, each in the shapes of its country. The
Noto fonts of further scripts and symbols follow. Nothing of the machine is used.
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

FAMILIES = ["FiraGO", "Noto Sans CJK JP", "Noto Sans"]
"""The fonts to try first; for all other scripts, the library finds the font that has them."""
_JOINERS = "\u200c\u200d"
_EMBEDDED = {"FiraGO-Regular.ttf": FiraGO_Regular, "FiraGO-Bold.ttf": FiraGO_Bold}
_PACKAGES = ("noto_cjk_sans_jp_regular", "manimgx_fonts")
_WARM_UP = b'#set text(font: "FiraGO")\na *a*'


def _list_files(package: str) -> list[Path]:
    folder = Path(str(files(package)))
    return sorted(path for path in folder.iterdir() if path.suffix in (".ttf", ".otf"))


def create_compiler() -> typst.Compiler:
    """Return a compiler that has the fonts and nothing else.

    The fonts that are packed in a module go to a folder which is deleted after their first use.
    """
    with tempfile.TemporaryDirectory() as folder:
        for name, module in _EMBEDDED.items():
            (Path(folder) / name).write_bytes(module.fontbuffer)
        folders = [folder, *(str(files(name)) for name in _PACKAGES)]
        compiler = typst.Compiler(
            font_paths=typst.Fonts(
                include_system_fonts=False, include_embedded_fonts=False, font_paths=folders
            ),
            ignore_system_fonts=True,
        )
        compiler.compile(input=_WARM_UP, format="pdf")
    return compiler


def replace_missing(text: str) -> str:
    """Return a text in which characters without a shape are written as code points: [U+20000].

    A letter and its marks need a font that has them all, otherwise the marks are written so.
    """
    if text.isascii():
        return text
    return "".join(_replace_in_cluster(cluster) for cluster in _split_clusters(text))


def replace_doubtful(text: str) -> str:
    """Return a text of letters that can be shown alone. The others are written as code points.

    Used if typst does not find a font for a cluster of characters in spite of `replace_missing`.
    """
    return "".join(
        letter if letter.isascii() or _is_plain(letter) else _write_code(letter) for letter in text
    )


def _split_clusters(text: str) -> list[str]:
    """Return the letters of a text, each with the marks and joiners after it."""
    clusters: list[str] = []
    for letter in text:
        if clusters and (letter in _JOINERS or unicodedata.category(letter).startswith("M")):
            clusters[-1] += letter
        else:
            clusters.append(letter)
    return clusters


def _replace_in_cluster(cluster: str) -> str:
    if cluster.isascii() or _find_font(cluster):
        return cluster
    first, rest = cluster[0], cluster[1:]
    head = first if _find_font(first) else _write_code(first)
    return head + "".join(map(_write_code, rest))


def _write_code(letter: str) -> str:
    return f"[U+{ord(letter):04X}]"


def _is_plain(letter: str) -> bool:
    return unicodedata.category(letter)[0] in "LNPSZ" and any(
        ord(letter) in font for font in _load_coverage()[:2]
    )


@functools.lru_cache(maxsize=65_536)
def _find_font(cluster: str) -> bool:
    """Tell whether a font has all characters of a cluster."""
    codes = {ord(letter) for letter in cluster if letter not in _JOINERS}
    return any(codes <= font for font in _load_coverage())


@functools.cache
def _load_coverage() -> list[frozenset[int]]:
    """Return the characters of each font: FiraGO, Noto Sans CJK, and the others."""
    paths = [path for package in _PACKAGES for path in _list_files(package)]
    return [_read_characters(io.BytesIO(FiraGO_Regular.fontbuffer)), *map(_read_characters, paths)]


def _read_characters(file: Path | io.BytesIO) -> frozenset[int]:
    with TTFont(file, lazy=True) as font:
        return frozenset(font.getBestCmap())
