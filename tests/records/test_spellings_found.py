"""A text is found by the other Unicode spelling of its words, through full text and through the index (R16, R22)."""

from __future__ import annotations

import unicodedata

import pytest

from activities.index.lexical import document_terms, query_terms
from activities.records.related import RelatedTable
from contracts.candidates import CanonicalLookup
from contracts.labels import CandidateKind, Outcome
from tests.records.asking import ask
from tests.records.world import World, new_word

WORDS = ["Zürich", "Žluťoučký", "문제", "Ångström", "été"]
FORMS = [("NFC", "NFD"), ("NFD", "NFC"), ("NFC", "NFC"), ("NFD", "NFD")]


def spelt(form: str, text: str) -> str:
    return unicodedata.normalize("NFD" if form == "NFD" else "NFC", text)


@pytest.mark.parametrize(("stored", "asked"), FORMS)
@pytest.mark.parametrize("word", WORDS)
async def test_full_text_finds_a_case_in_either_spelling(shared: World, word: str, stored: str, asked: str) -> None:
    rare = f"{word}{new_word()}"
    body = f"{spelt(stored, rare)} fails."
    case_id = await shared.open_case(body=body)
    other = await shared.open_case(body="It works.")
    assert shared.one("SELECT body FROM cases WHERE id = %s", case_id) == body, "what was delivered is never rewritten"

    lookup = CanonicalLookup(
        kinds=(CandidateKind.CASE,),
        domains=(),
        outcomes=tuple(Outcome),
        text=spelt(asked, rare),
        limit=20,
        pending_only=False,
    )
    found = await shared.retrievals.canonical(await ask(shared), lookup)
    assert found[0].target == f"case/{case_id}", "a decomposed word may be split, and its parts are found elsewhere too"

    table = RelatedTable(shared.database)
    task = await table.task("ann", other, include_later=True)
    assert (await table.by_text(task, spelt(asked, rare), limit=50, pending_only=False))[0] == case_id


@pytest.mark.parametrize("word", WORDS)
def test_the_indexes_words_are_the_same_in_either_spelling(word: str) -> None:
    terms = [document_terms(f"{spelt(form, word)} fails") for form in ("NFC", "NFD")]
    assert terms[0] == terms[1]
    assert query_terms(spelt("NFC", word)) == query_terms(spelt("NFD", word))
    assert set(query_terms(spelt("NFD", word)).indices) <= set(terms[0].indices)


def test_look_alikes_stay_different_words() -> None:
    """A Cyrillic letter is no Latin one (R2)."""
    assert set(query_terms("C\u0430f\u00e9").indices).isdisjoint(query_terms("Caf\u00e9").indices)
