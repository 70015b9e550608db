"""The name and the version of this service, as files that it writes tell them."""

NAME = "labeling-service"
VERSION = "1.0.0.dev0"
"""Raise it together with the heading of a release in CHANGELOG.md."""
