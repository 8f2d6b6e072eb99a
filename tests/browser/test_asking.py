"""A whole piece of work from the pages: ask, decide with citations, check, tell how it went, ask further (R18, R20)."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from tests.browser.site import PROFILE, Site


@pytest.mark.parametrize("javascript", [True, False], ids=["with a script", "without"])
async def test_r20_a_person_asks_decides_and_tells_how_it_went(site: Site, javascript: bool) -> None:
    title = f"Turquoise forms are not printed {javascript}"
    _, record = await site.published(title, f"The turquoise row is missing {javascript}.")
    case_id = await site.office.case_id(record)
    async with site.visit("berta", javascript=javascript) as page:
        await page.goto(f"/cases/{case_id}")
        await page.get_by_role("link", name="Ask the memory for it").click()
        await page.get_by_label("Ask as").select_option(PROFILE)
        await page.get_by_label("Objective or symptom, in words").fill(f"A turquoise form is not printed {javascript}")
        await page.get_by_label("Purpose").fill("To find the cause.")
        await page.get_by_role("button", name="Ask", exact=True).click()
        await expect(page.get_by_role("heading", name="Candidates to weigh")).to_be_visible()
        await expect(page.get_by_role("link", name=title).first).to_be_visible()

        await page.get_by_role("link", name="Decide with citations").click()
        await page.get_by_label("What you will do, and why").fill("Add the turquoise row if it is absent.")
        await page.get_by_label("Fresh checks before acting").fill("Is the turquoise row absent?")
        cited = page.get_by_role("group").filter(has_text=title)
        await cited.get_by_label("Verdict").select_option("chosen")
        await cited.get_by_label("Why").fill("The same symptom.")
        await page.get_by_role("button", name="Record the decision").click()
        await expect(page.get_by_role("heading", level=1)).to_have_text("How it turned out")

        await page.get_by_label("What it showed").fill("It was absent.")
        await page.get_by_role("button", name="It held").click()
        await expect(page.get_by_role("region", name="Fresh checks")).to_contain_text("held")
        await page.get_by_label("How it turned out").select_option("helped")
        await page.get_by_role("button", name="Record what became of it").click()
        await expect(page.get_by_role("region", name="What it cites")).to_contain_text("Said last: helped")

        await page.get_by_role("link", name="Back to the retrieval").click()
        await expect(page.get_by_role("region", name="Decisions that cite it")).to_contain_text("It was absent.")
        first = page.url
        await page.get_by_role("link", name="Broaden it").click()
        await page.get_by_label("Every domain").check()
        await page.get_by_label("Why the evidence asks for it").fill("Printing belongs to others as well.")
        await page.get_by_role("button", name="Ask further").click()
        await expect(page.get_by_role("link", name="an earlier retrieval")).to_be_visible()
        assert page.url != first
        await page.get_by_role("link", name="an earlier retrieval").click()
        await expect(page).to_have_url(first)
