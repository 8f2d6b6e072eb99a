"""What a retrieval reads in Postgres: scope, registry, full text, resolution (R4, R10, R13, R16, R21)."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import pytest_asyncio

from activities.records.case_links import CaseLinksTable
from contracts.candidates import CanonicalLookup, RetrievalTask
from contracts.cases import CaseFacts, CaseLink, CaseLinkKind
from contracts.errors import UnknownRetrieval
from contracts.index import Scope
from contracts.labels import CandidateKind, Outcome
from contracts.outbox import Topic
from contracts.retrieval import OriginRef
from contracts.review import ChangeKind
from tests.records.asking import ask
from tests.records.world import World, draft, new_id, new_word

EVERY_KIND = (CandidateKind.EXPERIENCE, CandidateKind.CASE, CandidateKind.ARTICLE)
ODD_TEXTS = [
    " ", "&", "a & b | !c", "((", "'", "''", '"quoted words"', "it's", "\\", "\\'", ":*", "<->", "a <-> b", "!", "%",
    "_", "http://host/path?a=1&b=2", "user@example.org", "-", "pg_class foo-bar", "\u200b", "\ud7ff\ufffd",
    "🦊 '🦊' & 🦊", "x" * 4000, "a " * 2000, "; DROP TABLE revisions; --", ":text :limit", "%(text)s %s {0}",
]  # fmt: skip


@pytest_asyncio.fixture(scope="module", name="two")
async def fixture_two(shared: World) -> World:
    """`bob` works for `other`, `kim` for both; all hold the profile."""
    await shared.tenant("other")
    await shared.principal("bob", "other")
    await shared.principal("kim", "acme", "other")
    await shared.profile("data-agent", "bob", "kim")
    return shared


def lookup(text: str, *, kinds: Sequence[CandidateKind] = EVERY_KIND, **changes: Any) -> CanonicalLookup:
    values: dict[str, Any] = {
        "kinds": tuple(kinds),
        "domains": (),
        "outcomes": tuple(Outcome),
        "text": text,
        "limit": 20,
        "pending_only": False,
    }
    return CanonicalLookup(**{**values, **changes})


async def found(world: World, task: RetrievalTask, text: str, **changes: Any) -> list[str]:
    return [hit.target for hit in await world.retrievals.canonical(task, lookup(text, **changes))]


async def registry(world: World, task: RetrievalTask, limit: int = 10) -> list[tuple[str, tuple[str, ...]]]:
    """Return what the caller may see of what is registered; the rest of its own tenants' has no revision."""
    return [(hit.target, hit.fields) for hit in await world.retrievals.registry(task, limit) if hit.revision]


async def test_the_scope_is_the_grants_and_a_request_only_narrows_it(two: World) -> None:
    """R13: derived from the identity; expired grants and inactive principals give nothing."""
    case_id = await two.open_case(by="bob", tenant="other")
    await two.principal("lea", "acme")
    await two.grant("lea", "other", case_id=case_id)
    await two.profile("data-agent", "lea")
    assert (await ask(two, "lea")).scope == Scope(frozenset({"acme"}), frozenset({case_id}))
    assert (await ask(two, "lea", tenant_id="acme")).scope == Scope(frozenset({"acme"}))
    assert (await ask(two, "lea", tenant_id="other")).scope == Scope(cases=frozenset({case_id}))
    assert (await ask(two, "kim")).scope == Scope(frozenset({"acme", "other"}))
    task = await ask(two, "lea")
    await two.grant("lea", "acme", expires_at=datetime.now(UTC) - timedelta(minutes=1))
    assert (await two.retrievals.load(task.request.request_id)).scope == Scope(cases=frozenset({case_id}))
    two.owner.execute("UPDATE principals SET active = false WHERE id = 'lea'")
    assert (await two.retrievals.load(task.request.request_id)).scope == Scope()


async def test_a_stored_request_comes_back_with_profile_and_strategy(two: World) -> None:
    """R13, R14: the pinned version, under the caller's name."""
    task = await ask(two, product="Home", object_refs=("doc/1",), results=3)
    assert (task.principal_id, task.profile.id, task.strategy.id, task.strategy.version) == (
        "ann", "data-agent", "data-investigation", 1,
    )  # fmt: skip
    assert (task.request.product, task.request.object_refs, task.request.results) == ("Home", ("doc/1",), 3)
    assert task.answer is None
    with pytest.raises(UnknownRetrieval):
        await two.retrievals.load(new_id())


async def test_the_registry_finds_the_same_origin_first_then_the_same_objects(two: World) -> None:
    """R2, R3, spec section 3: named by what matched; the case that the work is for is not news."""
    external_id, thing = new_id(), f"doc/{new_id()}"
    facts = CaseFacts(object_refs=(thing, "doc/else"))
    older = await two.open_case(facts=facts)
    same = (await two.deliver(external_id, facts=facts)).case_id
    await two.deliver(external_id, by="bob", tenant="other", facts=facts)
    origin = OriginRef(source="desk", external_id=external_id)
    task = await ask(two, origin=origin, object_refs=(thing, "doc/none"))
    assert await registry(two, task) == [
        (f"case/{same}", ("origin", "object_refs")), (f"case/{older}", ("object_refs",)),
    ]  # fmt: skip
    assert await registry(two, task, limit=1) == [(f"case/{same}", ("origin", "object_refs"))]
    own = await ask(two, origin=origin, object_refs=(thing,), case_id=same)
    assert await registry(two, own) == [(f"case/{older}", ("object_refs",))]
    assert await registry(two, own, limit=1) == [(f"case/{older}", ("object_refs",))]
    assert await registry(two, await ask(two)) == []


async def test_the_registry_stays_inside_the_callers_scope(two: World) -> None:
    """R4, R13: tenants, single cases and the narrowing of the request; the scope of now, not of the load."""
    external_id, thing = new_id(), f"doc/{new_id()}"
    facts = CaseFacts(object_refs=(thing,))
    cases = {
        tenant: (await two.deliver(external_id, by="kim", tenant=tenant, facts=facts)).case_id
        for tenant in ("acme", "other")
    }
    asked: dict[str, Any] = {"origin": OriginRef(source="desk", external_id=external_id), "object_refs": (thing,)}
    for who, narrowed, seen in (
        ("kim", None, {"acme", "other"}),
        ("kim", "other", {"other"}),
        ("ann", None, {"acme"}),
        ("bob", None, {"other"}),
    ):
        task = await ask(two, who, tenant_id=narrowed, **asked)
        assert {target for target, _ in await registry(two, task)} == {f"case/{cases[tenant]}" for tenant in seen}

    await two.principal("pat")
    await two.grant("pat", "other", case_id=cases["other"])
    await two.profile("data-agent", "pat")
    task = await ask(two, "pat", **asked)
    assert {target for target, _ in await registry(two, task)} == {f"case/{cases['other']}"}
    two.owner.execute("DELETE FROM grants WHERE principal_id = 'pat'")
    assert await registry(two, task) == []


async def test_r15_what_its_grants_leave_out_of_its_own_tenant_is_counted_and_no_other_tenants(two: World) -> None:
    """R21: an agent with a grant to one case learns how many more its tenant has; who has none there learns nothing."""
    thing = f"doc/{new_id()}"
    facts = CaseFacts(object_refs=(thing,))
    origin = OriginRef(source="desk", external_id=new_id())
    seen = (await two.deliver(new_id(), facts=facts)).case_id
    hidden = [(await two.deliver(origin.external_id, facts=facts)).case_id, await two.open_case(facts=facts)]
    theirs = (await two.deliver(new_id(), by="bob", tenant="other", facts=facts)).case_id
    await two.principal("guest")
    await two.grant("guest", "acme", case_id=seen)
    await two.profile("data-agent", "guest")
    task = await ask(two, "guest", origin=origin, object_refs=(thing,))
    hits = await two.retrievals.registry(task, 10)
    assert [(hit.target, hit.revision) for hit in hits[:1]] == [(f"case/{seen}", 1)]
    assert {(hit.target, hit.revision) for hit in hits[1:]} == {(f"case/{each}", 0) for each in hidden}
    resolution = await two.retrievals.resolve(task, [hit.target for hit in hits])
    assert set(resolution.records) == {f"case/{seen}"}
    assert resolution.not_permitted == {f"case/{each}" for each in hidden}
    assert f"case/{theirs}" not in {hit.target for hit in hits}
    assert [hit.target for hit in await two.retrievals.registry(task, 1)] == [f"case/{seen}"], (
        "what is seen comes first"
    )


async def test_the_case_that_the_work_is_for_brings_its_objects_and_links(two: World) -> None:
    """R2, R15: the request names the case alone; what people linked comes before what shares an object."""
    thing = f"contrat/{new_id()}-\u00e9"
    own = (await two.deliver(new_id(), facts=CaseFacts(object_refs=(thing,)))).case_id
    decomposed = CaseFacts(object_refs=(unicodedata.normalize("NFD", thing),))
    same_thing = (await two.deliver(new_id(), facts=decomposed)).case_id
    linked, unlinked = [await two.open_case() for _ in range(2)]
    links = CaseLinksTable(two.database)
    for other in (linked, unlinked):
        await links.link(
            "ann", CaseLink(id=other, case_id=own, other_case_id=other, kind=CaseLinkKind.RELATED, reason="Alike.")
        )
    await links.remove("ann", unlinked, "Not alike.")
    expected = [(f"case/{linked}", ("links",)), (f"case/{same_thing}", ("object_refs",))]
    assert await registry(two, await ask(two, case_id=own)) == expected
    assert await registry(two, await ask(two, case_id=own, object_refs=(thing,))) == expected


async def test_full_text_finds_any_word_and_ranks_by_them(two: World) -> None:
    """R16: a record of what an index lacks; two words weigh more than one."""
    one, both = new_word(), new_word()
    weak = await two.published(draft(text=f"The {one} stands alone."))
    strong = await two.published(draft(text=f"The {one} {both} stands."))
    task = await ask(two)
    assert await found(two, task, f"{both} {one} neither") == [f"experience/{strong}", f"experience/{weak}"]
    assert await found(two, task, f"{both} {one}", limit=1) == [f"experience/{strong}"]
    assert await found(two, task, one.upper(), outcomes=(Outcome.FAILED,)) == []
    assert await found(two, task, one, domains=("development",)) == []
    assert set(await found(two, task, one, domains=("data",))) == {f"experience/{weak}", f"experience/{strong}"}
    assert await found(two, task, one, kinds=(CandidateKind.ARTICLE, CandidateKind.CASE)) == []


async def test_full_text_reads_other_tenants_published_text_and_no_case_of_theirs(two: World) -> None:
    """R21: nor drafts, nor anything that has ended (R10)."""
    word = new_word()
    published = await two.published(draft(text=f"{word} general pattern"), by="bob", tenant="other")
    await two.propose(draft(text=f"{word} only proposed"))
    ended = [await two.published(draft(text=f"{word} ended")) for _ in range(2)]
    await two.change(ended[0], ChangeKind.RETIRE)
    await two.change(ended[1], ChangeKind.CORRECT, by="ann", draft=draft(title="Second"), suspend=True)
    theirs = await two.open_case(by="bob", tenant="other", body=f"{word} in a body")
    assert await found(two, await ask(two), word) == [f"experience/{published}"]
    assert set(await found(two, await ask(two, "bob"), word)) == {f"experience/{published}", f"case/{theirs}"}
    assert set(await found(two, await ask(two, "kim"), word)) == {f"experience/{published}", f"case/{theirs}"}
    assert await found(two, await ask(two, "kim", tenant_id="acme"), word) == [f"experience/{published}"]
    await two.principal("jo", "other")
    await two.profile("data-agent", "jo")
    task = await ask(two, "jo")
    assert f"case/{theirs}" in await found(two, task, word)
    two.owner.execute("DELETE FROM grants WHERE principal_id = 'jo'")
    assert await found(two, task, word) == [f"experience/{published}"], "the grants of now count, not those of the load"


async def test_only_what_the_index_has_not_taken(two: World) -> None:
    """R16: pending events decide, by key; the caller can't read the outbox and needs not."""
    word = new_word()
    taken, pending = [await two.published(draft(text=f"{word} text")) for _ in range(2)]
    case_id = await two.open_case(body=f"{word} body")
    two.owner.execute("UPDATE outbox SET delivered_at = now() WHERE key = %s", (f"experience/{taken}",))
    task = await ask(two)
    assert set(await found(two, task, word, pending_only=True)) == {f"experience/{pending}", f"case/{case_id}"}
    assert len(await found(two, task, word)) == 3
    two.owner.execute("UPDATE outbox SET delivered_at = now() WHERE topic = %s", (Topic.INDEX,))
    assert await found(two, task, word, pending_only=True) == []


@pytest.mark.parametrize("text", ODD_TEXTS, ids=range(len(ODD_TEXTS)))
async def test_no_query_text_breaks_the_search(two: World, text: str) -> None:
    """R22: operators, quotes, blanks, very long words; the text is words to look for, never a query."""
    task = await ask(two)
    for pending_only in (False, True):
        await two.retrievals.canonical(task, lookup(text, pending_only=pending_only))


async def test_a_word_inside_an_odd_text_is_still_found(two: World) -> None:
    """R16: quoting and operators around a word don't hide it."""
    word = new_word()
    experience_id = await two.published(draft(text=f"The {word} is here."))
    task = await ask(two)
    for text in (f"'{word}'", f"!{word}", f"({word} &", f"\\{word}", f"zq&{word}", f"{word}:*"):
        assert await found(two, task, text) == [f"experience/{experience_id}"], text


async def test_resolution_in_scope_names_case_and_origin(two: World) -> None:
    """R15: the current revision with its source."""
    content = draft(title="In scope")
    experience_id = await two.published(content)
    case_id = two.one("SELECT case_id::text FROM experiences WHERE id = %s", experience_id)
    target = f"experience/{experience_id}"
    record = (await two.retrievals.resolve(await ask(two), [target])).records[target]
    assert (record.source_case, record.revision) == (case_id, 1)
    assert (record.title, record.owner, record.state, record.draft) == ("In scope", "data", "current", content)
    assert record.source_origin is not None
    assert record.source_origin.source == "desk"
    assert record.published_at is not None


async def test_resolution_across_tenants_names_neither(two: World) -> None:
    """R21: the approved words, without case, origin, or places in the other tenant's papers."""
    experience_id = await two.published(draft(title="General"), by="bob", tenant="other")
    target = f"experience/{experience_id}"
    record = (await two.retrievals.resolve(await ask(two), [target])).records[target]
    assert (record.title, record.source_case, record.source_origin) == ("General", None, None)
    assert record.draft is not None
    assert [unit.spans for unit in record.draft.units] == [()]
    reviewer = await two.principal("rae")
    two.owner.execute("INSERT INTO domain_roles VALUES ('rae', 'data', 'owner')")
    await two.profile("data-agent", reviewer)
    record = (await two.retrievals.resolve(await ask(two, "rae"), [target])).records[target]
    assert (record.source_case, record.source_origin) == (None, None)


async def test_what_has_ended_is_withdrawn_and_what_is_not_permitted_is_counted_in_own_tenants(two: World) -> None:
    """R10, R15, R21: told apart, and nothing of another tenant is counted."""
    retired, suspended = await two.published(), await two.published()
    unpublished = await two.propose()
    await two.change(retired, ChangeKind.RETIRE)
    await two.change(suspended, ChangeKind.CORRECT, by="ann", draft=draft(title="Second"), suspend=True)
    theirs = await two.open_case(by="bob", tenant="other")
    mine, beside = [await two.open_case() for _ in range(2)]
    await two.principal("sam")
    await two.grant("sam", "acme", case_id=mine)
    await two.profile("data-agent", "sam")
    ended = [f"experience/{name}" for name in (retired, suspended, unpublished, new_id())]
    targets = [*ended, f"case/{theirs}", f"case/{mine}", f"case/{beside}", f"case/{new_id()}", "case/no id", "other/x"]
    resolution = await two.retrievals.resolve(await ask(two, "sam"), targets)
    assert set(resolution.records) == {f"case/{mine}"}
    assert set(ended) <= resolution.withdrawn
    assert resolution.not_permitted == {f"case/{beside}"}
    two.owner.execute("UPDATE grants SET expires_at = now() - interval '1 s' WHERE principal_id = 'sam'")
    resolution = await two.retrievals.resolve(await ask(two, "sam"), targets)
    assert (resolution.records, resolution.not_permitted) == ({}, frozenset())


async def test_a_live_case_resolves_to_what_it_is_now(two: World) -> None:
    """R3: state and text of the registry, not of an index."""
    receipt = await two.deliver(new_id(), body="first")
    await two.deliver(
        two.one(
            "SELECT external_id FROM origins o JOIN cases c ON c.origin_id = o.id WHERE c.id = %s", receipt.case_id
        ),
        revision=2,
        body="second",
    )
    target = f"case/{receipt.case_id}"
    record = (await two.retrievals.resolve(await ask(two), [target])).records[target]
    assert record.case is not None
    assert (record.case.body, record.revision, record.state, record.source_case) == (
        "second",
        2,
        "open",
        receipt.case_id,
    )
