"""The name and version of this service, for the HTTP requests and files that it creates."""

NAME = "labeling-service"
VERSION = "1.0.0.dev0"
"""The version of this release. Change it together with the heading in CHANGELOG.md."""
