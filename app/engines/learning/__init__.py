"""Train and evaluate extraction models in a child process with limits.

The child has one thread, and limited memory, processor time and wall-clock time. It is killed when
its parent exits. Examples are sent one by one, so the parent never has all examples in memory.
"""

from app.engines.learning.parent import (
    TRAINING_LIMITS,
    LearningFailed,
    LearningInterrupted,
    LearningLimits,
    TrainingResult,
    evaluate_in_child,
    train_in_child,
)

__all__ = [
    "TRAINING_LIMITS",
    "LearningFailed",
    "LearningInterrupted",
    "LearningLimits",
    "TrainingResult",
    "evaluate_in_child",
    "train_in_child",
]
