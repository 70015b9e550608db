"""What the operator does: provision, limit and suspend organizations."""
