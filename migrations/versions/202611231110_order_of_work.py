"""Order work with a due date before work without one in the columns that triggers maintain."""

from alembic import op

revision = "202611231110"
down_revision = "202611231100"
branch_labels = None
depends_on = None

URGENT_AT = "least(timezone('UTC', timezone('UTC', {due}) - interval '87600 hours'), {since})"
ASSIGNEES = {
    f"coalesce({row}.due_at, {row}.created_at)": URGENT_AT.format(
        due=f"{row}.due_at", since=f"{row}.created_at"
    )
    for row in ("n", "o")
}
REVIEWS = {
    "coalesce(tag_sets.review_due_at, n.due_at, tag_sets.submitted_at)": URGENT_AT.format(
        due="coalesce(tag_sets.review_due_at, n.due_at)", since="tag_sets.submitted_at"
    )
}
RANK = URGENT_AT.format(due="NEW.due_at", since="NEW.submitted_at")
# Instances of the previous release compute the rank of a submission with the old formula for due
# times, so the trigger corrects the rank.
SUBMITTED = {
    "RETURN NEW;": f"""IF NEW.due_at IS NOT NULL THEN
        NEW.review_rank := least(NEW.review_rank, review_rank_of(
            100 - CAST(NEW.review_rank / CAST(10 ^ 13 AS bigint) AS int), {RANK}));
    END IF;
    RETURN NEW;"""
}
CHANGES = (
    ("follow_assignees", ASSIGNEES),
    ("follow_urgencies", REVIEWS),
    ("fill_review", SUBMITTED),
)
# Replaces only a part of each function; earlier migrations have defined the other parts.
REPLACE = """
DO $migration$
DECLARE
    made text := pg_get_functiondef(to_regproc('{function}'));
BEGIN
    IF position($one${before}$one$ IN made) = 0 THEN
        RAISE EXCEPTION 'the function {function} is not as expected';
    END IF;
    EXECUTE replace(made, $one${before}$one$, $one${after}$one$);
END $migration$
"""


def upgrade() -> None:
    for function, changes in CHANGES:
        for before, after in changes.items():
            op.execute(REPLACE.format(function=function, before=before, after=after))


def downgrade() -> None:
    for function, changes in CHANGES:
        for before, after in changes.items():
            op.execute(REPLACE.format(function=function, before=after, after=before))
