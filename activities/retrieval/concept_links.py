"""The concept and intent links: from the first hits, and the objective's words, to records that share their terms.

Only words that the caller may see are followed, so it leads nowhere by hidden text, and every hit says which concept
or intent it shares.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from activities.retrieval.reads import SECTIONS, best_of_each
from contracts.candidates import CandidateRecord, Found
from contracts.concept_links import MOST, links_in, links_of, links_of_draft
from contracts.index import DenseQuery, Filter, Hit, Scope, VectorName
from contracts.labels import Collection
from contracts.ports import SearchIndex
from contracts.strategy import Links

CONCEPTS_FOLLOWED = "its own concepts were followed"
"""Why a hit that the links start from has a place among what they lead to: they must not push it out."""


def links_of_record(record: CandidateRecord) -> tuple[str, ...]:
    """Return the links of a record as it stands now; a case has none."""
    return links_of_draft(record.draft) if record.draft is not None else links_of(record.concepts)


_OBJECTIVE = "objective"
"""Stands beside the refs that links are read in; it is none itself."""


class ConceptLinks:
    """Follows concepts and intents through the index.

    Args:
        index: The search index.
    """

    def __init__(self, index: SearchIndex) -> None:
        self._index = index

    async def sharing(
        self,
        collection: Collection,
        scope: Scope,
        where: Filter,
        *,
        start: Mapping[str, Sequence[str]],
        objective: str,
        vector: Sequence[float],
        links: Links,
    ) -> list[Found]:
        """Return the records that share a link with a start or the objective, the likest to the objective first.

        Args:
            collection: The source.
            scope: What the caller may see.
            where: What the step accepts.
            start: The links of each of the first hits, the best hit first.
            objective: Whose words may be concepts.
            vector: The objective's.
            links: How far it goes.
        """
        asked = links_in(objective)
        keys = tuple(dict.fromkeys([*(link for each in start.values() for link in each), *asked]))[:MOST]
        if not keys:
            return []
        hits = await self._index.search(
            collection,
            DenseQuery(vector, VectorName.BODY),
            scope=scope,
            where=replace(where, links=keys),
            limit=links.depth * SECTIONS,
        )
        sources: dict[str, set[str]] = {key: set() for key in keys}  # where each link was read, in their order
        for ref, each in ((_OBJECTIVE, asked), *start.items()):
            for key in sources.keys() & each:
                sources[key].add(ref)
        return [
            Found(hit.target, hit.revision, _shared(hit, sources) or (CONCEPTS_FOLLOWED,), hit.section)
            for hit in best_of_each(hits)[: links.depth]
        ]


def _shared(hit: Hit, sources: Mapping[str, AbstractSet[str]]) -> tuple[str, ...]:
    """Return the links of a hit that were read elsewhere: its own are none that it shares."""
    own = {hit.target}
    shared = {key for key in hit.links if sources.get(key, own) - own}
    return tuple(key for key in sources if key in shared) if shared else ()
