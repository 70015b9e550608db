"""Assignment and claims of artifacts for labeling."""
