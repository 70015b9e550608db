"""An application in a process of its own, which sends itself the requests that it is given.

Reads [{path, address, headers}] from standard input; writes [[status, seconds]].
"""

import json
import os
import sys
import time

from app.factory import create_app

app = create_app(os.environ)
client = app.test_client()
answers = []
for wanted in json.load(sys.stdin):
    began = time.perf_counter()
    answer = client.post(
        f"/api/v1{wanted['path']}",
        json={},
        headers=wanted["headers"],
        environ_base={"REMOTE_ADDR": wanted["address"]},
    )
    answers.append([answer.status_code, time.perf_counter() - began])
json.dump(answers, sys.stdout)
