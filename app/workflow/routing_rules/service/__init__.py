"""Services that edit, simulate and apply routing rules."""
