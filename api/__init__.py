"""How people and agents reach Caselore: the HTTP API and its typed client."""
