"""Workflows on a real Temporal server."""
