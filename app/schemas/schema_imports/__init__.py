"""Import of schemas from files of other tools."""
