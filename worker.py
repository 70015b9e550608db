"""The background processes: the relay, the workers of the queues, and the webhook deliverer."""

from app.factory import create_app
from app.kit.jobs import processes

if __name__ == "__main__":
    raise SystemExit(processes.main(create_app()))
