"""Infrastructure that all features use. It depends on no feature."""
