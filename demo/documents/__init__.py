"""The demo organization's documents, each with its right labels and the state it is shown in."""

from demo.documents.catalogue import DOCUMENTS, DemoDocument

__all__ = ["DOCUMENTS", "DemoDocument"]
