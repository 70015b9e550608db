"""Web pages that emails link to: plain HTML without scripts, in the same languages as emails."""
