"""The demo organization: its users, teams, schemas and documents, and the code that loads them."""
