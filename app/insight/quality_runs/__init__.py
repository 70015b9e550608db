"""Quality runs: agreement of labelers, their disagreements, and confusion matrices."""
