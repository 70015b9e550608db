"""The demo organization's documents, each with its correct tags and the status it gets."""

from demo.documents.catalogue import DOCUMENTS, DemoDocument

__all__ = ["DOCUMENTS", "DemoDocument"]
