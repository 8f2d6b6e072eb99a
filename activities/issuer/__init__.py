"""People's issuer: OpenID Connect discovery, its signing keys, tokens, and the sign-in of a browser."""
