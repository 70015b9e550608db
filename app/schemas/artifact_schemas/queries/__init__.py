"""SQL of labeling schemas and their versions."""
