"""The name and the version of this service, for the files that it writes."""

NAME = "labeling-service"
VERSION = "1.0.0.dev0"
"""Change it together with the heading of the release in CHANGELOG.md."""
