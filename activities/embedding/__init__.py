"""Embedding models behind one port."""
