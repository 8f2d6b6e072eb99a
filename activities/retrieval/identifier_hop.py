"""The identifier hop: from the first hits to the records that they name, and to those that share their names.

No model reads anything: names are told by spelling (`contracts.identifiers`), the index knows each record by the keys
of its names, and both are bounded. It reads only words that the caller may see, so it leads nowhere by hidden text.
"""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass, replace

from contracts.candidates import Found
from contracts.identifiers import keys_in, lacking, new_names
from contracts.index import DenseQuery, Filter, Hit, LexicalQuery, Scope, VectorName
from contracts.labels import Collection
from contracts.ports import SearchIndex
from contracts.strategy import Hop


@dataclass(frozen=True, slots=True)
class Hopping:
    """Where a hop starts and what it may find."""

    collection: Collection
    scope: Scope
    where: Filter
    texts: MutableMapping[str, str]
    """What each of the first hits says, the best first."""


class IdentifierHop:
    """Follows names through the index.

    Args:
        index: The search index.
    """

    def __init__(self, index: SearchIndex) -> None:
        self._index = index

    async def named(self, hopping: Hopping, vector: Sequence[float], hop: Hop) -> list[Found]:
        """Return the records that the first hits name, the likest to the objective first, the first hits left out.

        Args:
            hopping: Where it starts.
            vector: The objective's.
            hop: How far it goes.
        """
        nearest = DenseQuery(vector, VectorName.BODY)
        first = tuple(hopping.texts)[: hop.first]

        async def by(ref: str) -> list[tuple[Hit, str]]:
            keys = keys_in(hopping.texts[ref])
            if not keys:
                return []
            where = replace(hopping.where, names=keys, not_targets=(*hopping.where.not_targets, *first))
            hits = await self._index.search(
                hopping.collection, nearest, scope=hopping.scope, where=where, limit=hop.named
            )
            return [(hit, ref) for hit in hits]

        named = [each for found in await asyncio.gather(*map(by, first)) for each in found]
        best: dict[str, tuple[Hit, list[str]]] = {}
        for hit, ref in named:
            best.setdefault(hit.target, (hit, []))[1].append(ref)
        # One query vector: the scores of these searches can be compared.
        ranked = sorted(best.values(), key=lambda each: (-each[0].score, each[0].target))
        return [_found(hit, *(f"named in {ref}" for ref in dict.fromkeys(refs))) for hit, refs in ranked[: hop.named]]

    async def sharing(self, hopping: Hopping, ref: str, objective: str, hop: Hop) -> list[Found]:
        """Return what is found by the names that a hit adds to the objective, and by what the hit leaves open of it."""
        said = hopping.texts[ref]
        names = " ".join(name.text for name in new_names(said, objective))
        if not names:
            return []
        hits = await self._index.search(
            hopping.collection,
            LexicalQuery(f"{lacking(objective, said)} {names}"),
            scope=hopping.scope,
            where=hopping.where,
            limit=hop.follow_depth,
        )
        # The hit keeps its place here: what is followed from it must not push it out.
        why = {ref: "its own names were followed"}
        return [_found(hit, why.get(hit.target, f"shares names with {ref}")) for hit in hits]


def _found(hit: Hit, *fields: str) -> Found:
    return Found(hit.target, hit.revision, fields)
