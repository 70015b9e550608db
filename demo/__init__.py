"""The demo organization: people, teams, schemas and documents, and the script that loads them."""
