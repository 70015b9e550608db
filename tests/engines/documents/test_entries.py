"""The fork server does not change results, and its processes have everything loaded."""

import base64
import json
from dataclasses import asdict
from pathlib import Path

import pytest

from app.engines.documents import Limits, frames
from app.engines.documents.processes import SERVER
from app.engines.sandbox.model import ProcessLimits
from tests.engines.documents import samples
from tests.engines.documents.every_type import make_documents
from tests.factories.processes import run_script

CALLS: dict[str, dict[str, object]] = {
    "parse_document": {},
    "render_page": {"page": 1, "width_px": 300, "format": "png"},
}
# Calls every entry function on every document, in a new interpreter without any sandbox, and
# records the frames, and the files and modules that were opened or imported meanwhile.
REFERENCE = """
import base64, dataclasses, json, sys
from app.engines.documents import Limits, entries

loads = []
calls, files = json.loads(sys.argv[1])
results = {}
watching = False

def watch(event, arguments):
    if watching and event in ("open", "import", "ctypes.dlopen", "socket.connect"):
        loads.append([event, str(arguments[0])])

sys.addaudithook(watch)
for path, media_type in files.items():
    for entry, arguments in calls.items():
        frames = []
        def send(kind, payload):
            frames.append([kind.decode(), base64.b64encode(payload).decode()])
        options = {"media_type": media_type, "limits": dataclasses.asdict(Limits()), **arguments}
        with open(path, "rb", buffering=0) as file:
            watching = True
            getattr(entries, entry)(file, options, send)
            watching = False
        results[f"{path} {entry}"] = frames
print(json.dumps([results, loads]))
"""


Results = dict[str, list[list[str]]]


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the media types of all documents by path."""
    folder = tmp_path_factory.mktemp("documents")
    found = {}
    for name, (media_type, data) in make_documents().items():
        path = samples.stored(folder, data, name.replace("/", "-"))
        found[str(path)] = media_type
    return found


@pytest.fixture(scope="module")
def reference(documents: dict[str, str]) -> tuple[Results, list[list[str]]]:
    results, loads = json.loads(run_script(REFERENCE, json.dumps([CALLS, documents])))
    return results, loads


def test_results_are_those_of_a_new_interpreter(
    documents: dict[str, str], reference: tuple[Results, list[list[str]]]
) -> None:
    found: Results = {}
    for path, media_type in documents.items():
        for entry, arguments in CALLS.items():
            call_arguments = {"media_type": media_type, "limits": asdict(Limits()), **arguments}
            found[f"{path} {entry}"] = _frames(Path(path), entry, call_arguments)
    assert len(found) > 80
    assert found == reference[0]


def test_nothing_is_opened_or_imported_on_first_use(
    reference: tuple[Results, list[list[str]]],
) -> None:
    """A sandboxed process may be unable to read files, including files of the interpreter."""
    unknown_charset = ["import", "encodings.no_such"]
    assert [load for load in reference[1] if load != unknown_charset] == []


def _frames(path: Path, entry: str, arguments: dict[str, object]) -> list[list[str]]:
    limits = ProcessLimits(1 << 30, 60, 90.0, 100 << 20)
    name = f"app.engines.documents.entries:{entry}"
    with (
        path.open("rb") as file,
        SERVER.run(name, document=file, arguments=arguments, limits=limits) as process,
    ):
        sent = list(process.iterate_frames(frames.FRAME_TYPES))
    return [[kind.decode(), base64.b64encode(payload).decode()] for kind, payload in sent]
