"""Import labeling configurations from Label Studio, which are trees of XML tags."""
