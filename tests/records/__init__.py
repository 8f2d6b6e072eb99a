"""The record on a real PostgreSQL: rows, rules, row-level security, concurrency."""
