"""What touches the world: activity classes on ports, and the adapters behind those ports."""
