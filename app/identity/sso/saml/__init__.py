"""SAML 2.0 for a service provider: building requests, and parsing and verifying responses.

This package does not depend on the database, Flask or the rest of the project. For what is accepted
and why, see docs/decisions/0018-saml.md.
"""
