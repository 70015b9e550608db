"""What the list of schemas reads."""

from app.kit import db, tenancy
from app.kit.pagination import PageRequest
from app.schemas.artifact_schemas import queries
from tests.factories import Org
from tests.factories.workspace import Workspace
from tests.plans.explaining import explaining

_SCHEMAS = 30
# The text cannot be compressed: the fields of each schema take a dozen blocks.
_COPY = """
INSERT INTO schemas SELECT (jsonb_populate_record(original, jsonb_build_object(
    'id', gen_random_uuid(), 'name', 'Copy ' || n, 'fields', jsonb_build_array(jsonb_build_object(
        'description', (SELECT string_agg(md5(CAST(i * n AS text)), '')
                        FROM generate_series(1, 6000) AS i)))))).*
FROM schemas original, generate_series(1, :copies) AS n WHERE original.organization_id = :org
"""
_MAX_BLOCKS = 400


def test_a_page_reads_the_fields_of_its_own_schemas_only(org: Org) -> None:
    workspace = Workspace(org)
    workspace.schema()
    workspace.sql(_COPY, org=org.id, copies=_SCHEMAS)
    page = PageRequest(None, 2, "name", b"")
    with org.app.app_context(), tenancy.organization(org.id), explaining(org.app) as explained:
        assert len(queries.list_schemas(page).items) == 2
        db.session().rollback()
    assert sum(one.blocks for one in explained) < _MAX_BLOCKS, explained
