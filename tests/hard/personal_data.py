"""Checks on what is published from a case that holds personal data (R6).

The experience is drafted from the case's sanitised text alone, as a proposer would, taken through both reviews,
published and projected; then it is read wherever it can be read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from contracts.cases import Case
from contracts.experience import KnowledgeUnit, Proposal, RoutingSynopsis, SourceSpan
from contracts.labels import Collection, Outcome, ProofLevel, UnitKind
from contracts.masking import SanitisedCase, declared_placeholders
from contracts.text import normalise
from tests.hard.runtime import House, Refused, texts
from tests.records.world import draft, new_id


async def article_contains_none(house: House, check: Mapping[str, Any]) -> str:
    """Look at the revision as the API shows it, at its columns, and at how the masking holds and is stable."""
    article = await _article(house)
    values = house.file.named(check["values"])
    _hold_none(article.shown, values, "the published revision")
    _hold_none(article.stored, values, "the record of revisions and events")
    await _the_original_is_kept(house, article.case, values)
    stable = await _placeholders_are_stable(house, article)
    return f"none of {len(values)} values; the case keeps them all; {stable}"


async def article_contains_all(house: House, check: Mapping[str, Any]) -> str:
    article = await _article(house)
    values = [*house.file.named(check["values"]), *house.file.also.get("keep", [])]
    missing = [value for value in values if not any(value in text for text in article.shown)]
    assert missing == [], f"{missing}"
    return f"all of {', '.join(dict.fromkeys(values))}"


async def index_payload_contains_none(house: House, check: Mapping[str, Any]) -> str:
    """Look at every point's payload, at what full text holds, and at what the embedder was given."""
    article = await _article(house)
    values = house.file.named(check["values"])
    seen = 0
    for collection in (Collection.ROUTING, Collection.DETAIL):
        for point in await house.index.stored(collection):
            seen += 1
            _hold_none(texts(point.payload), values, f"a point of {collection}")
    assert seen >= 2, f"{seen} points"
    words = house.world.rows(
        "SELECT title || ' ' || searchable FROM revisions WHERE experience_id = %s", article.experience_id
    )
    _hold_none((text for (text,) in words), values, "full text")
    given = [text for text in house.embedded if "10.14.2.0" in text and declared_placeholders(text)]
    assert given, "the masked text was never embedded"
    _hold_none(given, values, "what was embedded for the article")
    return f"none of {len(values)} values in {seen} points, in full text, or in {len(given)} embedded texts"


class _Article:
    """What was published, and everything that can be read of it."""

    def __init__(self, experience_id: str, case: Case, sanitised: SanitisedCase) -> None:
        self.experience_id = experience_id
        self.case = case
        self.sanitised = sanitised
        self.shown: list[str] = []
        self.stored: list[str] = []


async def _article(house: House) -> _Article:
    """Return the article of the file's first case, published once."""
    made = house.made.get("article")
    if made is None:
        made = house.made["article"] = await _publish(house)
    assert isinstance(made, _Article)
    return made


async def _sanitised(house: House, case: Case) -> SanitisedCase:
    answer = await house.call("GET", f"/v1/cases/{case.id}/sanitised", case.origin.tenant_id)
    return SanitisedCase.model_validate(answer)


async def _publish(house: House) -> _Article:
    case = await house.case(house.file.deliveries[0]["external_id"])
    tenant = case.origin.tenant_id
    person = await house.person_of(tenant)
    result = await house.world.result(case.id, by=person)
    sanitised = await _sanitised(house, case)
    assert result.execution_paper_id
    unit = KnowledgeUnit(
        id="u1",
        kind=UnitKind.PROPOSITION,
        text=sanitised.text,
        concepts=("mandate",),
        spans=(SourceSpan(paper_id=result.execution_paper_id, start=0, end=5),),
        outcome=Outcome.SUCCEEDED,
        proof_level=ProofLevel.VERIFIED,
    )
    synopsis = RoutingSynopsis(
        request_type="mandate", route="data", disposition="repaired", text=normalise(sanitised.text)
    )
    content = draft(title=sanitised.title, synopsis=synopsis, units=(unit,))
    proposal = Proposal(experience_id=new_id(), result_id=result.id, draft=content)
    await house.world.experiences.propose(person, proposal)
    await house.world.decide(proposal.experience_id, "cora")
    await house.world.decide(proposal.experience_id, "otto")
    await house.project()
    article = _Article(proposal.experience_id, case, sanitised)
    view = await house.call("GET", f"/v1/experiences/{article.experience_id}", tenant)
    assert (view["stage"], view["searchable"]) == ("published", True), f"{view['stage']}"
    article.shown = list(texts(view))
    article.stored = [
        row
        for (row,) in house.world.rows(
            "SELECT r::text FROM revisions r WHERE experience_id = %s"
            " UNION ALL SELECT o::text FROM outbox o UNION ALL SELECT p::text FROM case_placeholders p",
            article.experience_id,
        )
    ]
    return article


async def _the_original_is_kept(house: House, case: Case, values: Iterable[str]) -> None:
    """The case itself is unchanged for who may see it, and isn't there for anybody else."""
    assert all(value in case.body for value in values), "the case lost its original"
    for path in (f"/v1/cases/{case.id}", f"/v1/cases/{case.id}/sanitised"):
        try:
            await house.call("GET", path, "t-elsewhere")
        except Refused as refused:
            assert refused.status == 404, f"{refused}"
        else:
            raise AssertionError(f"a stranger sees {path}")


async def _placeholders_are_stable(house: House, article: _Article) -> str:
    """A second revision names the same people in other words: each keeps the placeholder that the first gave."""
    first = house.file.deliveries[0]
    second = {
        **first,
        "revision": first["revision"] + 1,
        "delivery_id": f"{first['delivery_id']}-again",
        "body": "Dear support,\nit is refused still.\n\nRegards\nAlex Sample-Person\n020 7946 0958\n"
        "ALEX.SAMPLE-PERSON@example.org\nAccount DE89370400440532013000",
    }
    await house.deliver(second)
    before = {place.kind: place.placeholder for place in article.sanitised.places}
    again = await _sanitised(house, article.case)
    assert again.text != article.sanitised.text, "the second revision was not taken"
    changed = {
        place.kind: place.placeholder
        for place in again.places
        if place.field == "text" and place.placeholder not in {each.placeholder for each in article.sanitised.places}
    }
    assert not changed, f"{changed}"
    seen = sorted({place.placeholder for place in again.places if place.field == "text"})
    assert len(seen) == 4 and len(before) >= 4, f"{seen}"
    return f"a second revision has the same {', '.join(seen)}"


def _hold_none(held: Iterable[str], values: Iterable[str], where: str) -> None:
    found = sorted({value for text in held for value in values if value in text})
    assert found == [], f"{where}: {found}"
