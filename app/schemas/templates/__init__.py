"""Schema templates, from which users create schema drafts."""
