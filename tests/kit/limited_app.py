"""An application in its own process that sends requests to itself.

Reads [{path, address, headers}] from standard input, and writes [[status, seconds]].
"""

import json
import os
import sys
import time

from app.factory import create_app

app = create_app(os.environ)
client = app.test_client()
answers = []
for item in json.load(sys.stdin):
    began = time.perf_counter()
    answer = client.post(
        f"/api/v1{item['path']}",
        json={},
        headers=item["headers"],
        environ_base={"REMOTE_ADDR": item["address"]},
    )
    answers.append([answer.status_code, time.perf_counter() - began])
json.dump(answers, sys.stdout)
