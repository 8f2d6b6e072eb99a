"""Qdrant, the index: one port, an embedded and a server adapter."""
