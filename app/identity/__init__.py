"""Identity: people, organizations and how they prove who they are."""
