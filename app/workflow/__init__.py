"""The workflow: who labels and reviews what, and the results."""
