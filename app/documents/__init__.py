"""Documents: the files and texts that are labeled."""
