"""Single sign-on with OpenID Connect and SAML."""
