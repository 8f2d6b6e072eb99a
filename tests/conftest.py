"""What every tier of tests can use."""

from hypothesis import settings

pytest_plugins = ["tests.services"]

# How long an example takes depends on what else runs on the machine: no test passes or fails by it.
settings.register_profile("shared machine", deadline=None)
settings.load_profile("shared machine")
