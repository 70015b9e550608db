"""The documents of the demo organization, with their correct tags and statuses."""

from demo.documents.catalogue import DOCUMENTS, DemoDocument

__all__ = ["DOCUMENTS", "DemoDocument"]
