"""Web pages that emails link to: plain HTML without scripts, in the languages of the emails."""
