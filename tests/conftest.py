"""What every tier of tests can use."""

pytest_plugins = ["tests.services"]
