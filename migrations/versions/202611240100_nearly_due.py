"""Order work that is due within 24 hours first: documents by a flag, reviews by their rank."""

import sqlalchemy as sa
from alembic import op

from migrations.auditing import audited

revision = "202611240100"
down_revision = "202611231301"
branch_labels = None
depends_on = None

_IGNORED = (
    *("claim_expires_at", "label_counts", "labeled_by", "reserved_for"),
    *("ingested_at", "routing_since"),
)

MARK = """
CREATE FUNCTION mark_nearly_due() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.nearly_due := coalesce(NEW.due_at <= now() + interval '24 hours', false);
    RETURN NEW;
END $$
"""
ON_INSERT = """
CREATE TRIGGER mark_nearly_due_insert BEFORE INSERT ON artifacts
FOR EACH ROW WHEN (NEW.due_at IS NOT NULL) EXECUTE FUNCTION mark_nearly_due()
"""
ON_UPDATE = """
CREATE TRIGGER mark_nearly_due_update BEFORE UPDATE OF due_at ON artifacts
FOR EACH ROW WHEN (OLD.due_at IS DISTINCT FROM NEW.due_at) EXECUTE FUNCTION mark_nearly_due()
"""
# The formula of ranks. A test checks that reviews and documents have the same order. Priority
# breaks ties between due times.
RANK = """
CREATE FUNCTION work_rank(priority int, due timestamptz, since timestamptz) RETURNS bigint
LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN due <= now() + interval '24 hours'
        THEN review_rank_of(101, due - priority * interval '1 millisecond')
        ELSE review_rank_of(priority, since) END
$$
"""
FILL_REVIEW = """
CREATE OR REPLACE FUNCTION fill_review() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    priority int;
BEGIN
    SELECT d.archived, d.due_at, d.priority INTO NEW.artifact_archived, NEW.due_at, priority
    FROM artifacts d
    WHERE d.organization_id = NEW.organization_id AND d.id = NEW.artifact_id;
    NEW.artifact_archived := coalesce(NEW.artifact_archived, false);
    NEW.due_at := coalesce(NEW.review_due_at, NEW.due_at);
    NEW.review_rank := work_rank(
        coalesce(priority, 50), NEW.due_at, coalesce(NEW.submitted_at, now()));
    RETURN NEW;
END $$
"""
# The function before this migration (202611231110), for the downgrade.
FILL_BEFORE = """
CREATE OR REPLACE FUNCTION fill_review() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    SELECT d.archived, d.due_at INTO NEW.artifact_archived, NEW.due_at FROM artifacts d
    WHERE d.organization_id = NEW.organization_id AND d.id = NEW.artifact_id;
    NEW.artifact_archived := coalesce(NEW.artifact_archived, false);
    NEW.due_at := coalesce(NEW.review_due_at, NEW.due_at);
    IF NEW.due_at IS NOT NULL THEN
        NEW.review_rank := least(NEW.review_rank, review_rank_of(
            100 - CAST(NEW.review_rank / CAST(10 ^ 13 AS bigint) AS int), least(timezone('UTC', timezone('UTC', NEW.due_at) - interval '87600 hours'), NEW.submitted_at)));
    END IF;
    RETURN NEW;
END $$
"""  # noqa: E501 - to the letter
OLD_URGENT_AT = "least(timezone('UTC', timezone('UTC', {due}) - interval '87600 hours'), {since})"
URGENCY = "CASE WHEN {row}.nearly_due THEN 101 ELSE {row}.priority END"
URGENT_AT = (
    "CASE WHEN {row}.nearly_due THEN {row}.due_at - {row}.priority * interval '1 millisecond'"
    " ELSE {row}.created_at END"
)
ASSIGNEES = [
    change
    for row in ("n", "o")
    for change in (
        (f"{row}.priority", URGENCY.format(row=row)),
        (
            OLD_URGENT_AT.format(due=f"{row}.due_at", since=f"{row}.created_at"),
            URGENT_AT.format(row=row),
        ),
    )
]
_DUE = "coalesce(tag_sets.review_due_at, n.due_at)"
REVIEWS = [
    (
        "review_rank_of(\n        n.priority, "
        + OLD_URGENT_AT.format(due=_DUE, since="tag_sets.submitted_at"),
        f"work_rank(\n        n.priority, {_DUE}, tag_sets.submitted_at",
    )
]
CHANGES = (("follow_assignees", ASSIGNEES), ("follow_urgencies", REVIEWS))
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
    marked = sa.Column("nearly_due", sa.Boolean(), server_default=sa.false(), nullable=False)
    op.add_column("artifacts", marked)
    for statement in (MARK, ON_INSERT, ON_UPDATE, RANK, FILL_REVIEW):
        op.execute(statement)
    for function, changes in CHANGES:
        for before, after in changes:
            op.execute(REPLACE.format(function=function, before=before, after=after))
    audited("artifacts", label="name", ignored=(*_IGNORED, "nearly_due"))


def downgrade() -> None:
    audited("artifacts", label="name", ignored=_IGNORED)
    for function, changes in CHANGES:
        for before, after in reversed(changes):
            op.execute(REPLACE.format(function=function, before=after, after=before))
    op.execute(FILL_BEFORE)
    op.execute("DROP FUNCTION work_rank(int, timestamptz, timestamptz)")
    op.execute("DROP FUNCTION mark_nearly_due() CASCADE")
    op.drop_column("artifacts", "nearly_due")
