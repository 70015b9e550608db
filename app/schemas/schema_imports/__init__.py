"""Import of schemas from other tools' files."""
