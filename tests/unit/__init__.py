"""Tests of rules that need nothing but Python."""
