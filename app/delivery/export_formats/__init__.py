"""The formats in which results can be exported."""
