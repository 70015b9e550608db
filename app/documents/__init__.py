"""Documents: the files and text that are labeled."""
