"""What holds for every page: nothing runs that comes from a case, a phone is wide enough, the outline is in order."""

from __future__ import annotations

from dataclasses import dataclass

import pytest_asyncio
from playwright.async_api import Page, expect

from contracts.articles import ArticleDraft, ArticleProposal
from contracts.cases import Delivery
from contracts.consultation import Consultation
from contracts.erasure import ErasureRequest
from contracts.identity import Domain
from contracts.retrieval import CheckOutcome, CheckResult, Citation, CitationVerdict, FreshCheck, MemoryUse
from deploy.importing import delivery_of
from tests.acceptance.office import fresh
from tests.browser.site import Site

HOSTILE = (
    "<script>document.title='owned';alert(1)</script><img src=x onerror=alert(2)> **bold** [l](javascript:alert(3)) "
    "{{ 7*7 }} </textarea><svg onload=alert(4)> \u202eevil\u202c\u200b " + "y" * 300 + " "
)
TITLE = "<b onmouseover=alert(5)>Bold</b> <script>alert(6)</script> الشهادات \u202eevil"


@dataclass
class Stuffed:
    """Something hostile on every page."""

    site: Site
    paths: dict[str, str]
    """Pages by their names."""


@pytest_asyncio.fixture(scope="session")
async def stuffed(running_site: Site) -> Stuffed:
    site = running_site
    id_, record = await site.proposed(TITLE, HOSTILE + "في قائمة البوابة " * 100, subject=TITLE, body=HOSTILE * 5)
    published, _ = await site.published("Retired </title><script>alert(7)</script>", f"{HOSTILE} heliotrope")
    case_id = await site.office.case_id(record)
    async with site.client("cora") as cora:
        article = ArticleDraft.model_validate(
            {
                "kind": "method",
                "title": TITLE,
                "domain_id": "data",
                "body": HOSTILE,
                "sources": [{"kind": "document", "locator": HOSTILE[:90]}],
            }
        )
        article_id = fresh()
        await cora.propose_article(ArticleProposal(article_id=article_id, article=article))
    answer = await site.office.ask(f"heliotrope {HOSTILE}"[:3000], case_id=case_id)
    found = next(each for each in answer.candidates if each.ref == f"experience/{published}")
    use = await site.office.agents["north"].record_use(
        MemoryUse(
            decision_id=fresh(),
            request_id=answer.request_id,
            summary=HOSTILE,
            citations=(
                Citation(ref=found.ref, revision=found.revision, verdict=CitationVerdict.REJECTED, why=HOSTILE),
            ),
            checks=(FreshCheck(check_id="x", text=HOSTILE),),
        )
    )
    await site.office.agents["north"].settle_check(
        CheckResult(decision_id=use.decision_id, check_id="x", outcome=CheckOutcome.FAILED, note=HOSTILE)
    )
    await site.office.admin.put_domain(Domain(id="letters", name="Letters"))
    asked = Consultation(consultation_id=fresh(), domain_id="letters", brief=HOSTILE, reason=HOSTILE)
    await site.office.agents["north"].consult(answer.request_id, asked)
    erased = await _erased(site, record.external_id, delivery_of(record))
    paths = {
        "sign in": "/sign-in",
        "inbox": "/",
        "review": f"/reviews/{id_}",
        "review of an article": f"/reviews/{article_id}",
        "experiences": "/experiences",
        "experience": f"/experiences/{published}",
        "correct": f"/experiences/{published}/changes/correct",
        "retire": f"/experiences/{published}/changes/retire",
        "supersede": f"/experiences/{published}/changes/supersede",
        "articles": "/articles",
        "article": f"/articles/{article_id}",
        "cases": "/cases",
        "case": f"/cases/{case_id}",
        "retrievals": "/retrievals",
        "retrieval": f"/retrievals/{answer.request_id}",
        "ask": f"/retrievals/new?case={case_id}",
        "broaden": f"/retrievals/{answer.request_id}/broaden",
        "decide": f"/retrievals/{answer.request_id}/decide",
        "decision": f"/retrievals/{answer.request_id}/decisions/{use.decision_id}",
        "consult": f"/retrievals/{answer.request_id}/consult",
        "consultations": "/consultations",
        "consultation": f"/consultations/{asked.consultation_id}",
        "status": "/status",
        "erasures": "/erasures",
        "erasure": f"/erasures/{erased}",
        "nothing": f"/experiences/{fresh()}",
    }
    return Stuffed(site, paths)


async def _erased(site: Site, external_id: str, like: Delivery) -> str:
    origin = like.origin.model_copy(update={"external_id": f"{external_id}-gone"})
    receipt = await site.office.cast.proposer.deliver(
        like.model_copy(update={"origin": origin, "delivery_id": fresh()})
    )
    request = ErasureRequest(
        erasure_id=fresh(), tenant_id=origin.tenant_id, case_id=receipt.case_id, reason="<i>Request</i> 114"
    )
    await site.office.admin.erase(request, wait=20)
    return request.erasure_id


def readers(name: str) -> str:
    return "administrator" if name.startswith("erasure") else "otto" if "article" in name else "berta"


async def opened(page: Page, path: str) -> int:
    response = await page.goto(path)
    assert response is not None
    return response.status


async def test_nothing_that_comes_from_a_case_runs_or_is_markup(stuffed: Stuffed, site: Site) -> None:
    for reader in ("berta", "administrator", "otto"):
        async with site.visit(reader) as page:
            for name, path in stuffed.paths.items():
                if readers(name) != reader or name == "nothing":
                    continue
                assert await opened(page, path) == 200, name
                assert "owned" not in (await page.title()).split("<")[0], name
                for alien in ("main b", "main img", "main script", "main i", "main svg[onload]"):
                    await expect(page.locator(alien)).to_have_count(0)
                shown = await page.locator("main").inner_text()
                assert not set("\u202e\u202c\u200b") & set(shown), name
                if name in (
                    "review",
                    "case",
                    "article",
                    "retrieval",
                    "experience",
                    "consultation",
                    "broaden",
                    "decide",
                    "decision",
                ):
                    assert "<script>" in shown, name
                    assert "[U+202E]" in shown, name


async def test_r20_an_experience_tells_who_cited_it_and_how_it_went(stuffed: Stuffed, site: Site) -> None:
    async with site.visit("berta") as page:
        await page.goto(stuffed.paths["experience"])
        cited = page.get_by_role("region", name="Who cited it")
        await expect(cited).to_contain_text("rejected 1")
        await expect(cited).to_contain_text("checks failed 1")
        await cited.get_by_role("link", name="its retrieval").click()
        await expect(page).to_have_url(f"{site.office.http}{stuffed.paths['retrieval']}")
        await expect(page.get_by_role("heading", name="What was not read")).to_be_visible()
        await expect(page.get_by_text("Why it is here").first).to_be_visible()


async def test_every_page_fits_a_phone(stuffed: Stuffed, site: Site) -> None:
    for reader in ("berta", "administrator", "otto"):
        async with site.visit(reader, phone=True) as page:
            for name, path in stuffed.paths.items():
                if readers(name) != reader:
                    continue
                await opened(page, path)
                await page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true })")
                wide = await page.evaluate(
                    "document.documentElement.scrollWidth - document.documentElement.clientWidth"
                )
                assert wide <= 0, f"{name} is {wide} pixels too wide"
    site.told.clear()  # the page that isn't there


_OUTLINE = """() => [...document.querySelectorAll('h1,h2,h3,h4')]
    .filter(each => !each.closest('dialog')).map(each => Number(each.tagName[1]))"""
_UNNAMED = """() => [...document.querySelectorAll('input:not([type=hidden]),select,textarea,button,a[href]')]
    .filter(each => !(each.labels && each.labels.length) && !each.textContent.trim() && !each.ariaLabel)
    .map(each => each.outerHTML)"""
_TWINS = """() => { const seen = new Set(), twice = new Set();
    for (const each of document.querySelectorAll('[id]')) (seen.has(each.id) ? twice : seen).add(each.id);
    return [...twice]; }"""


async def test_every_page_has_an_outline_names_and_landmarks(stuffed: Stuffed, site: Site) -> None:
    for reader in ("berta", "administrator", "otto"):
        async with site.visit(reader) as page:
            for name, path in stuffed.paths.items():
                if readers(name) != reader:
                    continue
                await opened(page, path)
                levels: list[int] = await page.evaluate(_OUTLINE)
                assert levels.count(1) == 1, f"{name} {levels}"
                at = levels.index(1)
                steps = list(zip(levels[at:], levels[at + 1 :], strict=False))
                assert all(after - before <= 1 for before, after in steps), f"{name} {levels}"
                assert await page.evaluate(_UNNAMED) == [], name
                assert await page.evaluate(_TWINS) == [], name
                assert await page.locator("main").count() == 1
                assert await page.locator("html[lang]").count() == 1
    site.told.clear()  # the page that isn't there


async def test_nobody_sees_a_page_that_is_not_theirs(stuffed: Stuffed, site: Site) -> None:
    async with site.visit("guest") as page:
        for name in (
            "review",
            "case",
            "retrieval",
            "broaden",
            "decide",
            "decision",
            "consult",
            "consultation",
            "erasures",
            "erasure",
        ):
            assert await opened(page, stuffed.paths[name]) in (403, 404), name
            assert "Bold" not in await page.locator("main").inner_text()
        await page.goto("/")
        await expect(page.get_by_role("heading", name="All done")).to_be_visible()
        assert await opened(page, stuffed.paths["experience"]) == 200, "published text is for everybody"
        await expect(page.locator("main")).to_contain_text("You see its published text")
    site.told.clear()
