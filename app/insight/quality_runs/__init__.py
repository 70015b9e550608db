"""Quality runs: agreement between labelers, their disagreements, and confusion matrices."""
