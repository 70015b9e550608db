"""Run an S3 server whose bucket already contains many objects.

Usage: python -m bench.s3_server PORT COUNT. The program prints `ready` when it accepts requests.
"""

import sys

from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.s3.models import s3_backends
from moto.server import ThreadedMotoServer

BUCKET = "papers"
CREDENTIALS = {"access_key_id": "key", "secret_access_key": "secret"}


def main(port: int, count: int) -> None:
    """Create a bucket with `count` small objects, and serve it until standard input is closed."""
    backend = s3_backends[DEFAULT_ACCOUNT_ID]["aws"]
    backend.create_bucket(BUCKET, "us-east-1")
    for number in range(count):
        backend.put_object(BUCKET, f"{number // 1000:04}/{number:08}.txt", b"%d" % number)
    server = ThreadedMotoServer("127.0.0.1", port=port, verbose=False)
    server.start()
    print("ready", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
