"""Charts of the insight room."""
