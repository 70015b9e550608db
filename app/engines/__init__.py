"""Libraries that depend neither on Flask nor on the database nor on any feature."""
