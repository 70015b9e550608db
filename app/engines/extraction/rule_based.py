"""Propose tags without a trained model: by rules and the values of a few similar documents."""

from collections.abc import Sequence

from app.engines.extraction.analysis import analyze
from app.engines.extraction.candidates import Candidate
from app.engines.extraction.examples import (
    Prepared,
    build_empty_memory,
    find_headers,
    list_all_targets,
    prepare,
)
from app.engines.extraction.memory import Memory, Recall
from app.engines.extraction.model import Document, Example
from app.engines.extraction.proposing import Reading, build_tag, build_value, collect, read
from app.engines.extraction.renderer import Renderer
from app.engines.extraction.rules import THRESHOLD, View, find_place, score, to_confidence
from app.engines.extraction.sequences import align
from app.engines.extraction.tables import propose_tables
from app.engines.extraction.trained import complete_evidence
from app.engines.extraction.values import Target
from app.engines.fields import Field, Tag

_MAX_MULTIPLE = 20


def propose(document: Document, fields: Sequence[Field], examples: Sequence[Example]) -> list[Tag]:
    """Return the tags that rules and memory propose; see `propose_by_rules`."""
    ordered = sorted(examples, key=lambda one: one.id)
    prepared = prepare(ordered, fields)
    targets = list_all_targets(prepared, fields)
    memory = _remember(prepared, targets)
    reading = read(analyze(document))
    if not reading.analysis.tokens:
        return []
    recall = memory.build_recall(reading.analysis)
    tags: list[Tag] = []
    for target in targets:
        tags += _propose_field(reading, target, memory, recall)
    tags += propose_tables(reading.analysis, fields, find_headers(ordered, prepared, fields))
    return complete_evidence(tags, document)


def _remember(prepared: list[Prepared], targets: list[Target]) -> Memory:
    memory = build_empty_memory(prepared)
    for number, one in enumerate(prepared):
        for target in targets:
            for found in align(one, target):
                analysis = one.reading.analysis
                memory.add_value(number, target.name, analysis, found.candidate, found.spelling)
    memory.index()
    return memory


def _propose_field(reading: Reading, target: Target, memory: Memory, recall: Recall) -> list[Tag]:
    view, found = collect(reading, target, memory)
    points = [_score_with_memory(view, candidate, recall) for candidate in found]
    order = sorted(range(len(found)), key=lambda place: (-points[place], place))
    renderer = Renderer(memory.list_spellings(target.name), "same_letters")
    if target.field["type"] not in ("text", "address"):
        renderer = Renderer(strips="")
    limit = _MAX_MULTIPLE if target.field["multiple"] else 1
    tags: list[Tag] = []
    for place in order:
        if points[place] < THRESHOLD or len(tags) >= limit:
            break
        candidate = found[place]
        value = build_value(view, candidate, renderer.render(candidate.text))
        if value is not None and value not in [tag["value"] for tag in tags]:
            tags.append(build_tag(view, candidate, value, to_confidence(points[place])))
    return tags


def _score_with_memory(view: View, candidate: Candidate, recall: Recall) -> float:
    points = score(view, candidate, find_place(view, candidate))
    if not recall.best:
        return points
    seen, same, top, by_left, near, lines = recall.build_features(
        view.analysis, view.target.name, candidate
    )
    points += 3.0 * same + (0.5 if seen else 0.0)
    return points + 1.5 * by_left + 3.0 * near * top + 0.8 * lines
