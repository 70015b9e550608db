"""Service functions for exports: create, read, preview, download, cancel and retry."""
