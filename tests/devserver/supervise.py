"""Run a Supervisor with stub children, described in JSON, in its own process.

A supervisor owns every child of its process, so it cannot run inside pytest. Prints one JSON object
per line: {"report": text}, {"pids": {name: pid}}, and {"task": status} for a task.
"""

import json
import signal
import sys
from pathlib import Path
from typing import Any

from app.kit.child_processes import Backoff
from devserver.child import ChildSpec
from devserver.process import Launch
from devserver.supervisor import ChildFailedError, StopRequested, Supervisor


def say(**record: Any) -> None:
    sys.stdout.write(json.dumps(record) + "\n")
    sys.stdout.flush()


def spec(name: str, code: str, plan: dict[str, Any]) -> ChildSpec:
    launch = Launch(argv=(sys.executable, "-c", code), cwd=Path.cwd(), env={})
    own = plan.get("own_backoff", {}).get(name)
    return ChildSpec(
        name,
        lambda: launch,
        stop_signals=((signal.SIGTERM, plan.get("stop_seconds", 60.0)),),
        backoff=None if own is None else Backoff(**own),
    )


def main() -> int:
    plan = json.loads(sys.argv[1])
    # A supervisor keeps ignoring the signal if its parent does, as under nohup.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    supervisor = Supervisor(
        lambda text: say(report=text),
        backoff=Backoff(**plan.get("backoff", {})),
        on_change=lambda: say(pids=supervisor.get_pids()),
    )
    try:
        with supervisor:
            for stage in plan["stages"]:
                supervisor.start(*(spec(name, code, plan) for name, code in stage.items()))
            if "executable" in plan:
                missing = Launch(argv=(plan["executable"],), cwd=Path.cwd(), env={})
                supervisor.start(ChildSpec("missing", lambda: missing))
            if "task" in plan:
                status = supervisor.run_task(
                    lambda descriptor: Launch(
                        argv=(sys.executable, "-c", plan["task"]),
                        cwd=Path.cwd(),
                        env={"PROGRESS_FD": str(descriptor)},
                        pass_fds=(descriptor,),
                    ),
                    lambda line: say(line=line),
                )
                say(task=status)
            if "attempts" in plan:
                supervisor.wait_until(lambda: False, max_exits=plan["attempts"])
            if "interval" in plan:
                supervisor.run(lambda: say(tick=True), plan["interval"])
            supervisor.run()
    except ChildFailedError as error:
        say(failed=str(error))
        return 1
    except StopRequested:
        pass
    return 0


if __name__ == "__main__":
    sys.exit(main())
