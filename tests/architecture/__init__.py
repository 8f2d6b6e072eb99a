"""Tests of the repository itself: imports, purity, file sizes, the lock."""
