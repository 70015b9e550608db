"""The service provider's side of SAML 2.0: parses and verifies responses, and builds requests.

This package does not depend on the database, Flask or the rest of the project. What is accepted,
and why, is described in docs/decisions/0018-saml.md.
"""
