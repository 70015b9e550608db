"""Validate tasks with the SDK of Label Studio, in an environment that has it.

    PYTHONPATH=.venv/label-studio-sdk python tools/label_studio/validate.py FILE

Writes a JSON object: the errors of the SDK, and the tasks as its own classes read them.
"""

import json
import sys
from pathlib import Path
from typing import Any

from label_studio_sdk.label_interface import LabelInterface
from label_studio_sdk.label_interface.objects import TaskValue


def validate(tasks: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the errors, the tasks as read, and the names of the controls and labels."""
    interface = LabelInterface(tasks[0]["meta"]["labeling_config"])
    interface.validate()
    errors: list[str] = []
    read = []
    for task in tasks:
        if not interface.validate_task({"data": task["data"]}):
            errors.append("the data lacks what the configuration shows")
        for name in ("annotations", "predictions"):
            for one in task.get(name, []):
                errors += interface.validate_prediction(one, return_errors=True)
        # Label Studio fills in the importing user; the class wants one.
        annotations = [{"completed_by": 1, **one} for one in task.get("annotations", [])]
        value = TaskValue(**{**task, "annotations": annotations})
        read.append(value.model_dump())
    labels = sorted(name for group in interface.labels for name in group)
    controls = sorted(control.name for control in interface.controls)
    return {"errors": errors, "tasks": read, "labels": labels, "controls": controls}


if __name__ == "__main__":
    json.dump(validate(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))), sys.stdout)
