"""Whole reviews from the pages: accept, return, decide on what changed meanwhile (R6, R7, R23, R24)."""

from __future__ import annotations

import pytest
from playwright.async_api import Page, expect

from contracts.lifecycle import Event, Stage
from contracts.review import ReviewDecision
from tests.acceptance.office import fresh
from tests.browser.site import Site, draft_of


async def record(page: Page) -> None:
    await page.get_by_role("button", name="Record the decision").click()
    await page.wait_for_url("**/commands/**")


@pytest.mark.parametrize("javascript", [True, False], ids=["with a script", "without"])
async def test_r7_a_curator_and_an_owner_review_and_publish(site: Site, javascript: bool) -> None:
    id_, _ = await site.proposed(f"Reviewed from the pages {javascript}")
    for who, stage in (("cora", Stage.OWNER_REVIEW), ("otto", Stage.PUBLISHED)):
        async with site.visit(who, javascript=javascript) as page:
            await page.get_by_role("link", name=f"Reviewed from the pages {javascript}").click()
            await expect(page.get_by_role("heading", level=1)).to_have_text(f"Reviewed from the pages {javascript}")
            await page.get_by_label("Accept", exact=True).check()
            await page.get_by_label("Comment", exact=True).fill("Read against its papers.")
            await record(page)
            await expect(page.get_by_role("heading", level=1)).to_have_text("Done")
            assert await site.stage(id_) is stage
            await page.goto("/")
            await expect(page.get_by_role("link", name=f"Reviewed from the pages {javascript}")).to_have_count(0)
    await site.office.searchable()
    async with site.visit("otto", javascript=javascript) as page:
        await page.goto(f"/experiences/{id_}")
        await expect(page.get_by_text("yes, in the index")).to_be_visible()
        await expect(page.get_by_text("Read against its papers.")).to_have_count(2)


async def test_r7_a_draft_is_returned_with_comments_and_its_author_answers_them(site: Site) -> None:
    id_, _ = await site.proposed("Returned from the pages")
    async with site.visit("cora") as page:
        await page.goto(f"/reviews/{id_}")
        await page.get_by_label("Return with comments").check()
        await page.get_by_role("button", name="Record the decision").click()
        await expect(page.get_by_role("alert")).to_contain_text("A return or rejection needs a comment.")
        site.told.clear()  # the browser tells of the status 422
        await page.get_by_label("Comment", exact=True).fill("One statement needs its version.")
        await page.locator("#at-units-0-text summary").click()
        await page.get_by_label("Comment on unit u1, text").fill("Since which version?")
        await record(page)
    assert await site.stage(id_) is Stage.RETURNED

    author = site.keys.setdefault("author", await _key_of_the_author(site))
    assert author
    async with site.visit("author") as page:
        await page.goto(f"/experiences/{id_}")
        told = page.get_by_role("region", name="Returned by")
        await expect(told).to_contain_text("One statement needs its version.")
        await expect(told).to_contain_text("Since which version?")
        await page.get_by_role("link", name="Change and resubmit").click()
        await page.get_by_role("group", name="Unit u1").get_by_label("Text").fill("The row is missing since 7.2.")
        await page.get_by_label("Why kept").fill("The version is in it now.")
        await page.get_by_role("button", name="Submit it again").click()
        await expect(page.get_by_role("heading", level=1)).to_have_text("Done")
    async with site.visit("cora") as page:
        await page.goto(f"/reviews/{id_}")
        changes = page.get_by_role("region", name="What changed")
        await expect(changes.locator("ins")).to_have_text("The row is missing since 7.2.")


async def _key_of_the_author(site: Site) -> str:
    from deploy.cast import PROPOSER

    return await site.office.admin.put_principal(PROPOSER, issue_key=True) or ""


async def test_r24_what_changed_meanwhile_is_told_and_what_was_typed_is_kept(site: Site) -> None:
    id_, drafted = await site.proposed("Decided by two at once")
    async with site.visit("cora") as page, site.client("berta") as berta:
        await page.goto(f"/reviews/{id_}")
        await page.get_by_label("Return with comments").check()
        await page.get_by_label("Comment", exact=True).fill("Where is its proof?")
        await berta.decide(
            ReviewDecision(
                decision_id=fresh(),
                experience_id=id_,
                stage=Stage.CURATOR_REVIEW,
                digest=draft_of(drafted).digest(),
                verdict=Event.ACCEPT,
                comment="Good as it is.",
            ),
            wait=20,
        )
        site.told.clear()
        await page.get_by_role("button", name="Record the decision").click()
        await expect(page.get_by_role("heading", name="Somebody changed this meanwhile")).to_be_visible()
        await expect(page.get_by_role("region", name="Somebody changed this")).to_contain_text("Good as it is.")
        await expect(page.get_by_label("Comment", exact=True)).to_have_value("Where is its proof?")
        site.told.clear()  # the browser tells of the status 409
    assert await site.stage(id_) is Stage.OWNER_REVIEW


async def test_r6_a_finding_is_shown_in_its_place_and_dismissed_with_a_reason(site: Site) -> None:
    id_, _ = await site.proposed("A draft with a name in it", "Ask Ylva Brandt, y.brandt@north.example, for the list.")
    async with site.visit("cora") as page:
        await page.goto(f"/reviews/{id_}")
        marked = page.locator("#at-units-0-text mark.must_resolve")
        await expect(marked.last).to_contain_text("y.brandt@north.example")
        await page.get_by_label("Accept", exact=True).check()
        await page.get_by_role("button", name="Record the decision").click()
        await expect(page.get_by_role("alert")).to_contain_text("Admission found something")
        findings = page.locator("[data-finding]")
        count = await findings.count()
        assert count >= 2
        for at in range(count):
            dismissal = findings.nth(at).locator("textarea")
            if await dismissal.count():
                await findings.nth(at).locator("summary").click()
                await dismissal.fill("Made up for this test.")
        site.told.clear()
        await record(page)
    assert await site.stage(id_) is Stage.OWNER_REVIEW


async def test_r7_the_same_form_sent_twice_is_one_decision(site: Site) -> None:
    id_, _ = await site.proposed("Sent twice")
    async with site.visit("cora") as page:
        await page.goto(f"/reviews/{id_}")
        await page.get_by_label("Accept", exact=True).check()
        fields: dict[str, str | float | bool] = await page.evaluate(
            "Object.fromEntries(new FormData(document.getElementById('decision')))"
        )
        answers = [
            await page.request.post(
                f"/reviews/{id_}/decision", form=fields, headers={"Origin": site.office.http}, max_redirects=0
            )
            for _ in range(2)
        ]
    assert [answer.status for answer in answers] == [303, 303]
    assert answers[0].headers["location"] == answers[1].headers["location"]
    assert [entry.event for entry in (await site.view(id_)).history] == ["propose", "accept"]
