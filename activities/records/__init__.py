"""Postgres, the record: schema, migrations, row-level security and the adapters on it."""
