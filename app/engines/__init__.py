"""Libraries that know neither Flask nor the database nor any feature."""
