"""The templates in the Label Studio package, whose version is LABEL_STUDIO in the Makefile."""

from pathlib import Path

import pytest
import yaml

from app.engines.fields import check_fields
from app.engines.schema_sources.label_studio.reader import read_label_studio
from app.engines.schema_sources.model import SchemaSourceError

FOLDER = Path(__file__).parents[3] / ".venv" / "label-studio"
COUNT = 69
# These need unsupported features: recordings, comparisons, ranking, writing a conversation.
NOTHING_TO_LABEL = {
    "audio-speech-processing/sound-event-detection",
    "audio-speech-processing/speaker-segmentation",
    "chat/chat_eval",
    "generative-ai/human-feedback-collection",
    "generative-ai/llm-ranker",
    "generative-ai/visual-ranker",
    "ranking-and-scoring/pairwise-classification",
    "time-series-analysis/activity-recognition",
    "time-series-analysis/change-point-detection",
    "videos/video-frame-classification",
    "videos/video-object-tracking",
    "videos/video-timeline-segmentation",
}


def _configurations() -> dict[str, str]:
    found = {}
    for path in sorted(FOLDER.glob("**/config.yml")):
        name = path.parent.relative_to(FOLDER).as_posix()
        found[name] = yaml.safe_load(path.read_text(encoding="utf-8"))["config"]
    return found


@pytest.fixture(scope="module")
def configurations() -> dict[str, str]:
    assert FOLDER.is_dir(), "make .venv/label-studio.stamp fetches the templates"
    return _configurations()


def test_each_template_gives_fields_or_has_nothing_to_label(configurations: dict[str, str]) -> None:
    assert len(configurations) == COUNT
    refused: set[tuple[str, str]] = set()
    for name, config in configurations.items():
        try:
            found = read_label_studio(config)
        except SchemaSourceError as error:
            refused.add((name, error.message))
        else:
            assert check_fields(found.fields) == found.fields, name
            warnings_text = " ".join(warning.message for warning in found.warnings)
            assert "is unknown" not in warnings_text, (name, warnings_text)
    assert refused == {(name, "has nothing that can be labeled") for name in NOTHING_TO_LABEL}


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        (
            "natural-language-processing/named-entity-recognition",
            {"per": "span", "org": "span", "loc": "span", "misc": "span"},
        ),
        ("natural-language-processing/text-classification", {"sentiment": "choice"}),
        ("natural-language-processing/taxonomy", {"taxonomy": "choice"}),
        ("natural-language-processing/machine-translation", {"spanish": "text"}),
        (
            "computer-vision/object-detection-with-bounding-boxes",
            {"airplane": "region", "car": "region"},
        ),
        ("computer-vision/keypoints", {"face": "region", "nose": "region"}),
        (
            "computer-vision/optical-character-recognition",
            {"text": "region", "handwriting": "region", "transcription": "text"},
        ),
        (
            "structured-data-parsing/pdf-classification",
            {"rating": "integer", "choices": "choice"},
        ),
    ],
)
def test_templates_give_the_expected_fields(
    configurations: dict[str, str], name: str, fields: dict[str, str]
) -> None:
    found = read_label_studio(configurations[name])
    assert {field["key"]: field["type"] for field in found.fields} == fields


def test_every_choice_and_label_is_in_a_field(configurations: dict[str, str]) -> None:
    config = configurations["conversational-ai/intent-classification-and-slot-filling"]
    found = read_label_studio(config)
    assert {field["label"] for field in found.fields if field["type"] == "span"} == {
        *("Person", "Organization", "Location", "Datetime", "Quantity")
    }
    (intent,) = (field for field in found.fields if field["type"] == "choice")
    assert [option["value"] for option in intent["options"]] == [
        *("Greeting", "Customer request", "Small talk")
    ]
