"""The review queue: claims, assignment and escalation of reviews."""
