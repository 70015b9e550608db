"""The background processes: the relay, the workers of the queues, and the webhook deliverer."""

from app.engines import documents
from app.factory import create_app
from app.kit.jobs import processes

if __name__ == "__main__":
    application = create_app()
    # One fork server for all workers: they inherit the socket that leads to it.
    documents.start_server()
    raise SystemExit(processes.main(application))
