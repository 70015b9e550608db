"""Leaving a team and the organization in the same instant: in turns, never in each other's way."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import psycopg2
import pytest

from devserver.postgres import EmbeddedPostgres
from tests.factories import Org
from tests.factories.teams import add_members, make_team
from tests.factories.waiting import wait_until

_WAITING = """
SELECT count(*) FROM pg_stat_activity
WHERE wait_event_type = 'Lock' AND %s = ANY (pg_blocking_pids(pid)) OR wait_event_type = 'Lock'
 AND pg_blocking_pids(pid) && ARRAY(
    SELECT pid FROM pg_stat_activity WHERE %s = ANY (pg_blocking_pids(pid)))
"""


@pytest.mark.parametrize("path", ["/teams/{team}/members/{user}", "/teams/{team}"])
def test_out_of_the_team_and_out_of_the_organization_at_once(
    org: Org, postgres: EmbeddedPostgres, path: str
) -> None:
    team = add_members(org, make_team(org), "labeler")
    user = org.users["labeler"]
    with (
        closing(psycopg2.connect(postgres.url)) as lock_connection,
        closing(psycopg2.connect(postgres.url)) as watch_connection,
        ThreadPoolExecutor(2) as pool,
    ):
        watch_connection.autocommit = True
        watching, cursor = watch_connection.cursor(), lock_connection.cursor()
        cursor.execute("SET LOCAL app.organization_id = %s", (str(org.id),))
        cursor.execute("SELECT FROM teams WHERE id = %s FOR UPDATE", (team["id"],))
        mine = lock_connection.get_backend_pid()

        def is_waiting(number: int) -> bool:
            watching.execute(_WAITING, (mine, mine))
            return bool(watching.fetchone()[0] == number)

        first = pool.submit(org.api("admin").delete, path.format(team=team["id"], user=user))
        wait_until(lambda: is_waiting(1), "the first request to wait", seconds=8)
        second = pool.submit(org.api("admin").delete, f"/organizations/{org.slug}/members/{user}")
        wait_until(lambda: is_waiting(2), "the second request to wait", seconds=8)
        lock_connection.rollback()
        answers = [first.result().status_code, second.result().status_code]
    assert answers == [204, 204]
