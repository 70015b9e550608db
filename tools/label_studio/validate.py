"""Validate Label Studio tasks with the Label Studio SDK, which must be importable.

    PYTHONPATH=.venv/label-studio-sdk python tools/label_studio/validate.py FILE

FILE is a JSON array of tasks. The program prints what `validate` returns, as JSON.
"""

import json
import sys
from pathlib import Path
from typing import Any

from label_studio_sdk.label_interface import LabelInterface
from label_studio_sdk.label_interface.objects import TaskValue


def validate(tasks: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the errors, the tasks as the SDK reads them, and the names of labels and controls."""
    interface = LabelInterface(tasks[0]["meta"]["labeling_config"])
    interface.validate()
    errors: list[str] = []
    parsed_tasks = []
    for task in tasks:
        if not interface.validate_task({"data": task["data"]}):
            errors.append("the data lacks a value that the labeling configuration shows")
        for name in ("annotations", "predictions"):
            for record in task.get(name, []):
                errors += interface.validate_prediction(record, return_errors=True)
        # The class requires a user. On import, Label Studio adds the user who imports the task.
        annotations = [{"completed_by": 1, **record} for record in task.get("annotations", [])]
        value = TaskValue(**{**task, "annotations": annotations})
        parsed_tasks.append(value.model_dump())
    labels = sorted(name for group in interface.labels for name in group)
    controls = sorted(control.name for control in interface.controls)
    return {"errors": errors, "tasks": parsed_tasks, "labels": labels, "controls": controls}


if __name__ == "__main__":
    json.dump(validate(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))), sys.stdout)
