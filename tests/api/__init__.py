"""The way in: HTTP, its refusals and its typed client."""
