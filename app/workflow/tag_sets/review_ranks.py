"""Ranks of tag sets in the review queue, least first, which triggers keep.

A rank is RANK_STEP for each point of priority below 100, plus a time in milliseconds since 1970: of
the submission, or, if the review is due within 24 hours, of the due time, with a priority of 101.
The SQL function `work_rank` is the formula.
"""

RANK_STEP = 10**13
"""More milliseconds than any due time, so that time only decides between equal priorities."""
LEVEL = f"CAST(floor({{of}}review_rank / {RANK_STEP}.0) AS int)"
"""SQL of 100 less the priority, or -1 if the review is nearly due; `of` is a prefix of a table."""
TIME = f"to_timestamp(CAST({{of}}review_rank - {LEVEL} * {RANK_STEP} AS float8) / 1000)"
"""SQL of the time by which reviews of one level are ordered."""
