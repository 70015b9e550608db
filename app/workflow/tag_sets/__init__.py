"""Tag sets, from draft to review decision."""
