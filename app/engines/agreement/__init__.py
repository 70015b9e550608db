"""Several label sets of one document beside each other: what differs, how far they agree, and what
most of them say.

Pure: tags in normal form (`engines.fields`) in, values out. Tags stand at a *place*: a field, or a
column of a table with its row. Which row of one label set is which of another's, `line_up` says by
what stands in them; the others go by the number, and are given what it lined up. Two tags of one
place say the same when

- their values are equal; amounts of money as numbers, so that 1.50 EUR is 1.500 EUR; text as
  Unicode has it (NFC), so that an é is the same written as one character or as two;
- in a span field, their stretches of the text overlap by half: code points in both, divided by
  code points in either (Jaccard);
- in a region field, their values are equal and their boxes on one page overlap by half in the same
  sense (intersection over union, as in the PASCAL VOC and COCO evaluations).

Where a place has several tags, each is matched with at most one of the other set's, the best pair
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
