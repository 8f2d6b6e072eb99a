"""Recorded histories that every version of the workflows must replay; `python -m tests.replay.record` makes them."""
