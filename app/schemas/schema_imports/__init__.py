"""Schema import from the files of other tools."""
