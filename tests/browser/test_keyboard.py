"""Everything that a reviewer does, without a mouse (WCAG 2.1.1)."""

from __future__ import annotations

from playwright.async_api import Locator, Page, expect

from contracts.lifecycle import Stage
from tests.browser.site import Site


async def tab_to(page: Page, wanted: Locator) -> None:
    """Press Tab until `wanted` has the focus, as somebody without a mouse does."""
    handle = await wanted.element_handle()
    for _ in range(150):
        if await page.evaluate("wanted => document.activeElement === wanted", handle):
            return
        await page.keyboard.press("Tab")
    raise AssertionError("it can't be reached by Tab")


async def sign_in(page: Page, key: str) -> None:
    await page.goto("/sign-in")
    await expect(page.get_by_label("API key")).to_be_focused()  # by itself, a moment after the page is there
    await page.keyboard.type(key)
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/")


async def test_r7_an_accept_and_a_return_by_their_keys(site: Site) -> None:
    id_, _ = await site.proposed("Keys of the inbox")
    async with site.visit() as page:
        await sign_in(page, site.keys["cora"])
        rows = page.locator("[data-row]")
        titles = await rows.all_text_contents()
        for _ in range(titles.index("Keys of the inbox") + 1):
            await page.keyboard.press("j")
        await expect(page.locator("[data-row]:focus")).to_have_text("Keys of the inbox")
        await page.keyboard.press("Enter")
        await page.wait_for_url(f"**/reviews/{id_}")
        await page.keyboard.press("?")
        await expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
        await page.keyboard.press("Escape")
        await page.keyboard.press("a")
        await expect(page.get_by_label("Accept", exact=True)).to_be_checked()
        await page.keyboard.press("Enter")
        await page.wait_for_url("**/commands/**")
    assert await site.stage(id_) is Stage.OWNER_REVIEW

    async with site.visit() as page:
        await sign_in(page, site.keys["otto"])
        await page.goto(f"/reviews/{id_}")
        await page.keyboard.press("r")
        await page.keyboard.type("Rarely so, x and a.")  # keys are letters inside a field
        await expect(page.get_by_label("Comment", exact=True)).to_have_value("Rarely so, x and a.")
        await tab_to(page, page.get_by_role("button", name="Record the decision"))
        await page.keyboard.press("Enter")
        await page.wait_for_url("**/commands/**")
    assert await site.stage(id_) is Stage.RETURNED


async def test_a_correction_and_a_retirement_by_tab_and_enter_alone_without_the_script(site: Site) -> None:
    id_, _ = await site.published("Tabbed through", "Press the marigold.")
    async with site.visit(javascript=False) as page:
        await sign_in(page, site.keys["otto"])
        await page.goto(f"/experiences/{id_}")
        await tab_to(page, page.get_by_role("link", name="Correct"))
        await page.keyboard.press("Enter")
        await page.wait_for_url("**/changes/correct")
        await tab_to(page, page.get_by_role("group", name="Unit u1").get_by_label("Text"))
        await page.keyboard.press("Control+A")
        await page.keyboard.type("Press the marigold twice.")
        await tab_to(page, page.get_by_label("Why kept"))
        await page.keyboard.type("Once is not enough.")
        await tab_to(page, page.get_by_role("button", name="Send the correction"))
        await page.keyboard.press("Enter")
        await page.wait_for_url("**/commands/**")
        assert await site.stage(id_) is Stage.CURATOR_REVIEW

        await page.goto(f"/experiences/{id_}")
        await tab_to(page, page.get_by_role("link", name="Retire"))
        await page.keyboard.press("Enter")
        await page.wait_for_url("**/changes/retire")
        await tab_to(page, page.get_by_label("Why kept"))
        await page.keyboard.type("It is pressed by itself.")
        await tab_to(page, page.get_by_role("button", name="Retire it"))
        await page.keyboard.press("Enter")
        await page.wait_for_url("**/commands/**")
    assert await site.stage(id_) is Stage.RETIRED


async def test_the_first_tab_skips_to_the_content(site: Site) -> None:
    async with site.visit("cora") as page:
        await page.goto("/")
        await page.keyboard.press("Tab")
        await expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
        await page.keyboard.press("Enter")
        await page.keyboard.press("Tab")
        assert await page.evaluate("document.querySelector('main').contains(document.activeElement)")
