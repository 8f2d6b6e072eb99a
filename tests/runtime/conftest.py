"""Settings with ports and a folder of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from deploy.settings import Settings, load_settings
from tests.ports import port_settings


def embedded_settings(folder: Path) -> Settings:
    """Return settings for an embedded runtime in `folder`."""
    return load_settings(data_dir=folder, **port_settings())


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """An embedded runtime in an empty folder."""
    return embedded_settings(tmp_path / "data")
