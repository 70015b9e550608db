"""The workflow: labeling, review, and the distribution of both tasks among users."""
