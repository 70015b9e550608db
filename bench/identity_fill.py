"""Members, teams and audit entries by the hundred thousand, for identity's long lists."""

import time

from bench.jobs_rows import plain
from bench.service import Service
from tests.factories import Org

_PEOPLE = """
INSERT INTO users (id, email, name, locale, time_zone, token_version, created_at, updated_at,
                   revision)
SELECT md5('{salt}user' || i)::uuid, '{salt}-' || i || '@test.example', 'Person ' || i, 'en', 'UTC',
       1, now(), now(), 1
FROM generate_series(1, {rows}) AS i;
INSERT INTO memberships (organization_id, user_id, role, sort_name, created_at)
SELECT '{org}', md5('{salt}user' || i)::uuid, 'labeler', 'person ' || i,
       now() + i * interval '1 millisecond'
FROM generate_series(1, {rows}) AS i;
"""
_TEAMS = """
INSERT INTO teams (organization_id, id, name, skills, skill_keys, description, member_count,
                   created_at, updated_at, revision)
SELECT '{org}', md5('{salt}team' || i)::uuid, 'Team ' || i, '["English"]', '{{english}}', '',
       {members}, now(), now(), 1
FROM generate_series(1, {rows}) AS i;
"""
_IN_TEAMS = """
INSERT INTO team_members (organization_id, team_id, user_id, created_at)
SELECT '{org}', md5('{salt}team' || i)::uuid, md5('{salt}user' || i)::uuid, now()
FROM generate_series(1, {rows}) AS i;
"""
_FILLED = ("users", "memberships", "teams", "team_members")


def people(service: Service, org: Org, rows: int) -> None:
    """`rows` members, each in a team of its own. What triggers would have kept is written too."""
    values = {"org": org.id, "salt": org.slug, "rows": rows, "members": 1}
    with plain(service) as cursor:
        for table in _FILLED:
            cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        for sql in (_PEOPLE, _TEAMS, _IN_TEAMS):
            cursor.execute(sql.format(**values))
        for table in _FILLED:
            cursor.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")


def trail(service: Service, org: Org, rows: int) -> None:
    """`rows` audit entries, each of a team that was made, and all of them sealed."""
    values = {"org": org.id, "salt": org.slug, "rows": rows, "members": 0}
    until = time.monotonic() + 300
    with plain(service) as cursor:
        cursor.execute(_TEAMS.format(**values))
        while time.monotonic() < until:
            cursor.execute("SELECT count(*) FROM audit_unsealed")
            if cursor.fetchone()[0] == 0:
                return
            time.sleep(0.5)
    raise TimeoutError("the audit log is not sealed")
