"""Libraries that do not depend on Flask, the database or any feature."""
