"""The identifier hop: from the first hits to the records that they name, and to those that share their names.

No model reads anything: names are told by spelling (`contracts.identifiers`), the index knows each record by the keys
of its names, and both are bounded. It reads only words that the caller may see, so it leads nowhere by hidden text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace

from activities.retrieval.reads import SECTIONS, best_of_each
from contracts.candidates import Found
from contracts.identifiers import keys_in, lacking, new_names
from contracts.index import DenseQuery, Filter, Hit, LexicalQuery, Scope, VectorName
from contracts.labels import Collection
from contracts.ports import SearchIndex
from contracts.strategy import Hop

_DIGIT = re.compile(r"\d")
NAMED_IN = "named in "
"""Begins why a record was found that a hit names."""


@dataclass(frozen=True, slots=True)
class Hopping:
    """Where a hop starts and what it may find."""

    collection: Collection
    scope: Scope
    where: Filter
    texts: MutableMapping[str, str]
    """What each of the first hits says, the best first."""
    keys: MutableMapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    """The keys in those texts that were read; a hop into another source reads none twice."""

    def keys_of(self, ref: str) -> frozenset[str]:
        """Return the keys of everything that a hit may name."""
        if ref not in self.keys:
            self.keys[ref] = frozenset(keys_in(self.texts[ref]))
        return self.keys[ref]


class IdentifierHop:
    """Follows names through the index.

    Args:
        index: The search index.
    """

    def __init__(self, index: SearchIndex) -> None:
        self._index = index

    async def named(
        self, hopping: Hopping, vector: Sequence[float], hop: Hop, *, numbered: bool = False
    ) -> list[Found]:
        """Return the records that the first hits name, the likest to the objective first, the first hits left out.

        Args:
            hopping: Where it starts.
            vector: The objective's.
            hop: How far it goes.
            numbered: Only by names with a digit: ids and references, and no titles.
        """
        keys = {ref: hopping.keys_of(ref) for ref in list(hopping.texts)[: hop.first]}
        names = tuple(sorted(frozenset[str]().union(*keys.values())))
        if numbered:
            names = tuple(name for name in names if _DIGIT.search(name))
        if not names:
            return []
        hits = await self._index.search(
            hopping.collection,
            DenseQuery(vector, VectorName.BODY),
            scope=hopping.scope,
            where=replace(hopping.where, names=names, not_targets=(*hopping.where.not_targets, *keys)),
            limit=hop.named * SECTIONS,
        )
        return [_found(hit, *_named_by(keys, hit)) for hit in best_of_each(hits)[: hop.named]]

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


def _named_by(keys: Mapping[str, frozenset[str]], hit: Hit) -> list[str]:
    return [f"{NAMED_IN}{ref}" for ref, said in keys.items() if not said.isdisjoint(hit.names)]
