"""Service functions of exports: create, read, download, and change their status."""
