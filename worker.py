"""The background processes: the relay, the workers of the queues, and the webhook deliverer."""

from app.engines import documents
from app.factory import create_app
from app.kit import container
from app.kit.jobs import processes

if __name__ == "__main__":
    application = create_app()
    # One fork server for all workers, which inherit the socket that leads to it. Requests come
    # before documents in the background.
    documents.start_server(max_processes=container.settings().job_workers + 1, nice=5)
    raise SystemExit(processes.main(application))
