"""Detection of drift in model predictions and in labeling."""
