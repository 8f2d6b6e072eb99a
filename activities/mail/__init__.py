"""Reading mail bodies: what was newly written, and what was quoted."""
