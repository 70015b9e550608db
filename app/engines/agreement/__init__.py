"""Compare tag sets of one document: their differences, their agreement, and their majority.

All functions are pure: they take tags in normal form (`engines.fields`) and return values. A
*place* is a field, or a table column together with a row number. `line_up` matches the rows of
different tag sets by content and renumbers them; the other functions then match rows by number.

Two tags at the same place agree when

- their values are equal; amounts of money are compared as numbers, so 1.50 EUR equals 1.500 EUR;
text is compared after Unicode NFC normalization;

- in a span field, their text ranges overlap by half: code points in both, divided by code points in
either (Jaccard index);

- in a region field, their values are equal and their boxes on one page overlap by half in the same
sense (intersection over union, as in the PASCAL VOC and COCO evaluations).

Where a place has several tags, each tag is matched with at most one tag of the other set, best pair
first.
"""

from app.engines.agreement.comparing import Change, ContentDiff, diff, diff_by_content
from app.engines.agreement.measures import MOST_MATCHED, Agreement, agreement, agrees
from app.engines.agreement.places import Place, Shape, Shapes, by_place, shapes
from app.engines.agreement.rows import Lineup, line_up, numbered, table_of
from app.engines.agreement.votes import Ballot, Choice, majority
from app.engines.agreement.windows import Effort

__all__ = [
    "MOST_MATCHED",
    "Agreement",
    "Ballot",
    "Change",
    "Choice",
    "ContentDiff",
    "Effort",
    "Lineup",
    "Place",
    "Shape",
    "Shapes",
    "agreement",
    "agrees",
    "by_place",
    "diff",
    "diff_by_content",
    "line_up",
    "majority",
    "numbered",
    "shapes",
    "table_of",
]
