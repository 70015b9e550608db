"""Compare the tag sets of a document: list differences, measure agreement, find the majority.

The functions take tags in normal form (see `engines.fields`) and do not change them. A *tag key* is
a field, or a table column together with a row number. A *mark* is the position of a span or region
tag in the document: a range of text, or a box on a page. `rows.align_rows` matches the rows of
different tag sets by content and renumbers them; the other modules then match rows by number.

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
