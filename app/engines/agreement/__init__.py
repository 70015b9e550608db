"""Compare the tag sets of a document: list differences, measure agreement, find the majority.

All functions are pure: they take tags in normal form (`engines.fields`) and return values. A *tag
key* is a field, or a table column together with a row number. `align_rows` matches the rows of
different tag sets by content and renumbers them; the other functions then match rows by number.

Two tags with the same tag key agree if

- in a span field, their text ranges overlap by at least half: the length of the intersection,
divided by the length of the union, in code points (Jaccard index);

- in a region field, their values are equal, and their boxes are on the same page and overlap by at
least half (intersection over union, as in the PASCAL VOC and COCO evaluations);

- in any other field, their values are equal. Amounts of money are compared as numbers, so 1.50 EUR
equals 1.500 EUR. Text is compared after Unicode NFC normalization.

If several tags of a set have the same tag key, each tag is matched with at most one tag of the
other set, and the best pairs are matched first.
"""

from app.engines.agreement.comparing import Change, diff, diff_by_content
from app.engines.agreement.measures import (
    MAX_MATCHED_MARKS,
    Agreement,
    has_agreement,
    measure_agreement,
)
from app.engines.agreement.places import (
    Shape,
    Shapes,
    TagKey,
    build_shapes,
    build_value_key,
    group_by_tag_key,
)
from app.engines.agreement.rows import RowAlignment, align_rows, get_table_key, number_rows
from app.engines.agreement.votes import Ballot, find_majority
from app.engines.agreement.windows import Budget

__all__ = [
    "MAX_MATCHED_MARKS",
    "Agreement",
    "Ballot",
    "Budget",
    "Change",
    "RowAlignment",
    "Shape",
    "Shapes",
    "TagKey",
    "align_rows",
    "build_shapes",
    "build_value_key",
    "diff",
    "diff_by_content",
    "find_majority",
    "get_table_key",
    "group_by_tag_key",
    "has_agreement",
    "measure_agreement",
    "number_rows",
]
