"""Service functions for bulk imports."""
