"""The operator's control plane, which provisions, limits and suspends organizations."""
