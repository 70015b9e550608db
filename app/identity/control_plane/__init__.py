"""The operator's control plane: managing organizations, plans and user accounts."""
