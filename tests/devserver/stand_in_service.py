"""`python -m devserver run` with stubs of the application's processes.

Only gunicorn, worker.py and the preparing child are replaced, so that these tests do not depend on
the application.
"""

import os
import sys

from app.kit.serving.supervision import LISTENER_ENV
from devserver import children
from devserver.child import ChildSpec
from devserver.listener import Listener
from devserver.process import Launch
from devserver.run import run

API = """
import http.server, os, socket, threading
from app.kit.serving.supervision import LISTENER_ENV
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(os.environ.get(self.path.rpartition('/')[2], '').encode())
    def log_message(self, *arguments):
        pass
address = ('127.0.0.1', int(os.environ['PORT']))
server = http.server.ThreadingHTTPServer(address, Handler, bind_and_activate=False)
server.socket = socket.socket(fileno=int(os.environ[LISTENER_ENV]))
server.serve_forever()
"""
WORKERS = """
import os, time
from app.kit.process_lifetime import die_with_parent
parent = os.getpid()
for _ in range(3):
    if os.fork() == 0:
        die_with_parent(parent)
        break
time.sleep(600)
"""
PREPARE = """
import json, os, psycopg2, sys
from pathlib import Path
from devserver import children, revisions
os.write(2, b'preparing\\n')
record = json.loads(Path(os.environ['DATA_DIR'], 'running.json').read_text())
if record['environment'].get('DATABASE_URL') == os.environ['DATABASE_URL']:
    os.write(2, b'the record names the database\\n')
with psycopg2.connect(os.environ['DATABASE_URL']) as connection:
    with connection.cursor() as cursor:
        cursor.execute('CREATE TABLE IF NOT EXISTS alembic_version (version_num text)')
        cursor.execute('DELETE FROM alembic_version')
        cursor.execute('INSERT INTO alembic_version VALUES (%s)',
                       [revisions.find_head_revision(children.MIGRATIONS)])
fd = int(os.environ['PROGRESS_FD'])
lines = ['migrated']
if os.environ['DEMO'] == 'on':
    lines += ['demo 1 2', 'demo 2 2', 'demo loaded']
os.write(fd, '\\n'.join([*lines, '']).encode())
"""


def _launch(code: str, env: dict[str, str], *descriptors: int) -> Launch:
    return Launch((sys.executable, "-c", code), children.ROOT, env, pass_fds=descriptors)


def _api(env: dict[str, str], listener: Listener, _: int) -> ChildSpec:
    descriptor = listener.fileno()
    launch = _launch(API, {**env, LISTENER_ENV: str(descriptor)}, descriptor)
    return ChildSpec(children.API, lambda: launch)


def main() -> int:
    children.build_api_spec = _api
    children.build_workers_spec = lambda env: ChildSpec(
        children.WORKERS, lambda: _launch(WORKERS, env)
    )
    children.build_prepare_launch = lambda env, descriptor: _launch(
        PREPARE, {**env, "PROGRESS_FD": str(descriptor)}, descriptor
    )
    return run(os.environ)


if __name__ == "__main__":
    sys.exit(main())
