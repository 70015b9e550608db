"""Propose tags without a trained model, by rules and by values from a few accepted examples."""

from collections.abc import Sequence

from app.engines.extraction.candidates import Candidate
from app.engines.extraction.examples import list_targets, prepare_examples
from app.engines.extraction.model import Document, Example
from app.engines.extraction.proposing import (
    PreparedDocument,
    build_tag,
    build_value,
    collect_candidates,
    prepare_document,
)
from app.engines.extraction.renderer import Renderer
from app.engines.extraction.rules import (
    MIN_RULE_SCORE,
    FieldView,
    find_nearby_keywords,
    score_candidate,
    to_confidence,
)
from app.engines.extraction.sequences import align_values, build_training_index
from app.engines.extraction.table_headers import learn_headers
from app.engines.extraction.tables import propose_tables
from app.engines.extraction.trained_model import complete_evidence
from app.engines.extraction.training_index import SimilarDocuments, TrainingIndex
from app.engines.extraction.values import Target
from app.engines.fields import Field, Tag

_MAX_VALUES = 20


def propose_by_rules(
    document: Document, fields: Sequence[Field], examples: Sequence[Example] = ()
) -> list[Tag]:
    """Propose tags for a document from the key, label, description and type of each field.

    `examples` are the accepted examples, if there are any (usually fewer than MIN_EXAMPLES). Values
    and positions that occur in similar examples are preferred. The tags are in the normal form that
    `app.engines.fields` defines, with `source` "model", a confidence and, for values found in the
    document, evidence. Fields with `ai_assist` false get no tags.
    """
    ordered_examples = sorted(examples, key=lambda example: example.id)
    prepared_examples = prepare_examples(ordered_examples, fields)
    targets = list_targets(prepared_examples, fields)
    alignment_lists = [
        [align_values(example, target) for target in targets] for example in prepared_examples
    ]
    training_index = build_training_index(prepared_examples, targets, alignment_lists)
    prepared_document = prepare_document(document)
    if not prepared_document.analysis.tokens:
        return []
    similar_documents = training_index.find_similar_documents(prepared_document.analysis)
    tags: list[Tag] = []
    for target in targets:
        tags += _propose_field(prepared_document, target, training_index, similar_documents)
    headers = learn_headers(prepared_examples, fields)
    tags += propose_tables(prepared_document.analysis, fields, headers)
    return complete_evidence(tags, document)


def _propose_field(
    prepared_document: PreparedDocument,
    target: Target,
    training_index: TrainingIndex,
    similar_documents: SimilarDocuments,
) -> list[Tag]:
    view, candidates = collect_candidates(prepared_document, target, training_index)
    points = [
        _score_with_similar_documents(view, candidate, similar_documents)
        for candidate in candidates
    ]
    ranked_indexes = sorted(range(len(candidates)), key=lambda index: (-points[index], index))
    renderer = Renderer(training_index.count_spellings(target.name), "same_letters")
    if target.field["type"] not in ("text", "address"):
        renderer = Renderer(stripped_chars="")
    limit = _MAX_VALUES if target.field["multiple"] else 1
    tags: list[Tag] = []
    for index in ranked_indexes:
        if points[index] < MIN_RULE_SCORE or len(tags) >= limit:
            break
        candidate = candidates[index]
        value = build_value(view, candidate, renderer.render(candidate.text))
        if value is not None and value not in [tag["value"] for tag in tags]:
            tags.append(build_tag(view, candidate, value, to_confidence(points[index])))
    return tags


def _score_with_similar_documents(
    view: FieldView, candidate: Candidate, similar_documents: SimilarDocuments
) -> float:
    points = score_candidate(view, candidate, find_nearby_keywords(view, candidate))
    if not similar_documents.best_document_numbers:
        return points
    value_count, value_match, best_similarity, left_text_match, nearness, lines_match = (
        similar_documents.build_features(view.analysis, view.target.name, candidate)
    )
    points += 3.0 * value_match + (0.5 if value_count else 0.0)
    return points + 1.5 * left_text_match + 3.0 * nearness * best_similarity + 0.8 * lines_match
