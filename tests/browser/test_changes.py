"""Correction and retirement from the pages (R10)."""

from __future__ import annotations

from playwright.async_api import expect

from contracts.lifecycle import Stage
from tests.browser.site import Site
from tests.browser.test_reviews import record


async def test_r10_a_text_is_corrected_and_its_owner_acknowledges_the_scope(site: Site) -> None:
    id_, _ = await site.published("Corrected from the pages", "Insert orchids before noon.")
    async with site.visit("otto") as page:
        await page.goto(f"/experiences/{id_}")
        await page.get_by_role("link", name="Correct").click()
        await page.get_by_role("group", name="Unit u1").get_by_label("Text").fill("Insert orchids before ten.")
        await page.get_by_label("Lowest version").first.fill("7.2")
        await page.get_by_label("Why kept").fill("Noon is too late.")
        await page.get_by_role("button", name="Send the correction").click()
        await expect(page.get_by_role("heading", level=1)).to_have_text("Done")
    view = await site.view(id_)
    assert (view.stage, view.current_revision, view.revision) == (Stage.CURATOR_REVIEW, 1, 2)

    async with site.visit("cora") as page:
        await page.goto(f"/reviews/{id_}")
        await expect(page.get_by_role("region", name="What changed").locator("ins").first).to_contain_text("ten")
        await page.get_by_label("Accept", exact=True).check()
        await record(page)
    async with site.visit("berta") as page:
        await page.goto(f"/reviews/{id_}")
        await expect(page.get_by_role("region", name="Where it would hold")).to_contain_text("narrowed")
        await page.get_by_label("Accept", exact=True).check()
        await page.get_by_role("button", name="Record the decision").click()
        await expect(page.get_by_role("alert")).to_contain_text("tick the box below")
        site.told.clear()
        await page.get_by_label("I have seen that the scope is narrowed").check()
        await record(page)
    view = await site.view(id_)
    assert (view.stage, view.current_revision) == (Stage.PUBLISHED, 2)


async def test_r10_a_text_is_retired_and_gone_from_answers_at_once(site: Site) -> None:
    id_, _ = await site.published("Retired from the pages", "Water the heliotrope by hand.")
    async with site.visit("otto") as page:
        await page.goto(f"/experiences/{id_}")
        await page.get_by_role("link", name="Retire").click()
        await page.get_by_label("Why kept").fill("It is watered by itself since 8.0.")
        await page.get_by_role("button", name="Retire it").click()
        await expect(page.get_by_text("Retrievals don't show it any more")).to_be_visible()
    answer = await site.office.ask("Water the heliotrope by hand.")
    assert f"experience/{id_}" not in {candidate.ref for candidate in answer.candidates}


async def test_r22_a_refused_change_keeps_what_was_typed(site: Site) -> None:
    id_, _ = await site.published("Corrected with a mistake")
    async with site.visit("otto") as page:
        await page.goto(f"/experiences/{id_}/changes/correct")
        await page.get_by_role("group", name="Unit u1").get_by_label("Concepts").fill("")
        await page.get_by_label("Why kept").fill("To see what it says.")
        await page.get_by_role("button", name="Send the correction").click()
        await expect(page.get_by_role("alert")).to_contain_text("A proposition needs a concept.")
        await expect(page.get_by_label("Why kept")).to_have_value("To see what it says.")
        site.told.clear()
    assert await site.stage(id_) is Stage.PUBLISHED
