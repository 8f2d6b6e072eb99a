"""The embedded runtime: a database and a workflow server of one's own, started from installed wheels."""
