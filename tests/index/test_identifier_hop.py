"""The identifier hop over every adapter: it finds what the first hits name, and nothing outside scope and filter."""

from __future__ import annotations

from activities.retrieval.identifier_hop import Hopping, IdentifierHop
from contracts.identifiers import keys_of
from contracts.index import Filter, Scope
from contracts.labels import CandidateKind, Collection
from contracts.ports import SearchIndex
from contracts.strategy import Hop
from tests.index.samples import change, vector

DETAIL, CASES = Collection.DETAIL, Collection.CASES
FILM, PLACE, OTHER = "article/1", "article/2", "article/3"
SAID = "Fist Power\nFist Power is a film that was made in Hong Kong."


async def _library(index: SearchIndex) -> None:
    texts = {FILM: ("Fist Power", SAID), PLACE: ("Hong Kong", "taken by the crown"), OTHER: ("Macau", "a port")}
    await index.apply(
        [
            change(DETAIL, ref, f"{title} {text}", names=keys_of([title]), domain="films" if ref == FILM else "places")
            for ref, (title, text) in texts.items()
        ]
    )


def _from(where: Filter, scope: Scope | None = None, collection: Collection = DETAIL) -> Hopping:
    return Hopping(collection, scope or Scope(), where, {FILM: SAID})


async def test_a_record_that_a_hit_names_is_found_with_the_reason_r15(index: SearchIndex) -> None:
    await _library(index)
    found = await IdentifierHop(index).named(_from(Filter()), vector("any"), Hop())
    assert [(each.target, each.fields) for each in found] == [(PLACE, (f"named in {FILM}",))]


async def test_a_hop_keeps_to_the_filter_of_its_step(index: SearchIndex) -> None:
    await _library(index)
    hop = IdentifierHop(index)
    assert await hop.named(_from(Filter(domains=("films",))), vector("any"), Hop()) == []
    assert await hop.named(_from(Filter(kinds=(CandidateKind.EXPERIENCE,))), vector("any"), Hop()) == []
    assert await hop.named(_from(Filter(not_targets=(PLACE,))), vector("any"), Hop()) == []


async def test_a_hop_never_leaves_the_scope_r4(index: SearchIndex) -> None:
    names = keys_of(["Hong Kong"])
    await index.apply([change(CASES, f"case/{who}", "taken", tenant=who, names=names) for who in ("acme", "other")])
    acme = Scope(tenants=frozenset({"acme"}))
    hop = IdentifierHop(index)
    found = await hop.named(_from(Filter(), acme, CASES), vector("any"), Hop())
    assert [each.target for each in found] == ["case/acme"]
    assert await hop.named(_from(Filter(), Scope(), CASES), vector("any"), Hop()) == []


async def test_what_shares_a_hits_names_is_found_by_them_and_by_what_the_hit_left_open(index: SearchIndex) -> None:
    await _library(index)
    hop = IdentifierHop(index)
    found = await hop.sharing(_from(Filter()), FILM, "when was the place where fist power was made taken?", Hop())
    assert {each.target: each.fields for each in found} == {
        FILM: ("its own names were followed",),
        PLACE: (f"shares names with {FILM}",),
    }
    silent = Hopping(DETAIL, Scope(), Filter(), {FILM: "nothing is named here"})
    assert await hop.sharing(silent, FILM, "when was it taken?", Hop()) == []
