"""SAML 2.0, the service provider's side: bytes in, an identity or a refusal out.

Nothing here knows the database, Flask or the rest of the project. What is accepted, and why, is in
docs/decisions/0018-saml.md.
"""
