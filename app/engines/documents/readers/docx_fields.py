"""Find the codes of Word fields, which Word does not display, and the values of form fields.

The code of a field (ECMA-376, 17.16.18) is an instruction, which may contain nested fields. Word
uses the results of nested fields, for example in the condition of an IF field, but does not display
them.
"""

from dataclasses import dataclass, field

from lxml import etree  # type: ignore[import-untyped]

from app.engines.documents.readers.docx_styles import WORD_NAMESPACE, get_on_off_value, get_value
from app.engines.documents.readers.docx_symbols import EMPTY_BOX, TICKED_BOX
from app.engines.documents.readers.numerals import read_number

_TEXT, _FIELD_CHARACTER, _CHARACTER_TYPE = (
    WORD_NAMESPACE + "t",
    WORD_NAMESPACE + "fldChar",
    WORD_NAMESPACE + "fldCharType",
)


@dataclass(eq=False)
class _Field:
    """A Word field whose end has not been read yet."""

    start: etree._Element
    codes: list[etree._Element] = field(default_factory=list)
    has_result: bool = False


class WordFields:
    """The Word fields of one part of a document. Fields without an end are ignored.

    `codes` contains the text elements of the field codes. `form_values` maps the first element of
    each field without a result to the text that Word displays for a checkbox or drop-down list, or
    to an empty string.
    """

    def __init__(self, root: etree._Element) -> None:
        self.codes: set[etree._Element] = set()
        self.form_values: dict[etree._Element, str] = {}
        self._open_fields: list[_Field] = []
        self._fields_in_code: list[_Field] = []  # the open fields whose result has not started
        for element in root.iter(_TEXT, _FIELD_CHARACTER):
            if element.tag == _FIELD_CHARACTER:
                self._read_field_character(element)
            elif self._fields_in_code:
                self._fields_in_code[-1].codes.append(element)
            elif self._open_fields:
                self._open_fields[-1].has_result = True

    def _read_field_character(self, character: etree._Element) -> None:
        character_type = character.get(_CHARACTER_TYPE)
        if character_type == "begin":
            self._open_fields.append(_Field(character))
            self._fields_in_code.append(self._open_fields[-1])
            return
        if self._fields_in_code and self._fields_in_code[-1] is self._open_fields[-1]:
            self._fields_in_code.pop()
        if character_type == "end" and self._open_fields:
            ended_field = self._open_fields.pop()
            self.codes.update(ended_field.codes)
            if not ended_field.has_result:
                self.form_values[ended_field.start] = _read_form_value(ended_field.start)


def _read_form_value(start: etree._Element) -> str:
    """Return the text of the form field that begins at `start`, or "" if it has no text."""
    check_box = start.find(f"{WORD_NAMESPACE}ffData/{WORD_NAMESPACE}checkBox")
    if check_box is not None:
        is_ticked = get_on_off_value(check_box, "checked")
        if is_ticked is None:
            is_ticked = get_on_off_value(check_box, "default")
        return TICKED_BOX if is_ticked else EMPTY_BOX
    choices = start.find(f"{WORD_NAMESPACE}ffData/{WORD_NAMESPACE}ddList")
    entries = [] if choices is None else choices.findall(WORD_NAMESPACE + "listEntry")
    index = read_number(get_value(choices, "result") or get_value(choices, "default"), 0)
    return entries[index].get(WORD_NAMESPACE + "val", "") if index < len(entries) else ""
