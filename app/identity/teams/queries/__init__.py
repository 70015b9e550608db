"""SQL of teams: reading, the tree, and who is in them."""
