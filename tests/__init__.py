"""Caselore's tests, one folder per tier."""
