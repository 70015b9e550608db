"""SQL queries for connectors, their alerts, and the objects that crawls have handled."""
