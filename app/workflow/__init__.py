"""The workflow: labeling, review, and the distribution of both among users."""
