"""One Caselore and one Chromium for all browser tests."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import async_playwright, expect

from deploy.administrator_key import administrator_key
from tests.acceptance.conftest import MEMORY
from tests.acceptance.office import running_office, settings_in
from tests.browser.site import Site, staff


@pytest.fixture(scope="session")
def chromium() -> str:
    """Where the system's Chromium is; without one these tests are skipped, and fail where everything must run."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        reason = "there is no chromium on this machine (Debian: apt-get install --no-install-recommends chromium)"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return found


@pytest.fixture(scope="session")
def site_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="caselore-", dir=MEMORY if MEMORY.is_dir() else None) as name:
        yield Path(name)


@pytest_asyncio.fixture(scope="session")
async def running_site(chromium: str, site_folder: Path) -> AsyncIterator[Site]:
    settings = settings_in(site_folder)
    async with running_office(settings) as (_, office), async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        keys = await staff(office)
        keys["administrator"] = administrator_key(settings.data_dir) or ""
        expect.set_options(timeout=10_000)
        yield Site(office, browser, keys)
        await browser.close()


@pytest_asyncio.fixture
async def site(running_site: Site) -> AsyncIterator[Site]:
    """The site, whose pages must not have complained of anything by the end of a test."""
    running_site.told.clear()
    running_site.ran.clear()
    yield running_site
    assert running_site.told == []
    assert running_site.ran == []
