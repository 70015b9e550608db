"""Single sign-on by OpenID Connect and SAML."""
