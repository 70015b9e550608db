"""The background processes: the relay, the workers of the queues, and the webhook deliverer."""

from app.factory import create_app
from app.kit.jobs import processes
from app.kit.logging import log_uncaught_exceptions

if __name__ == "__main__":
    log_uncaught_exceptions()
    raise SystemExit(processes.main(create_app()))
