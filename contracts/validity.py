"""Validity: a candidate's limits held against what a request states (R17).

Another product or system is out of range. Another version, schema or environment, a fact that the limits
need and the request doesn't state, and weaker proof or older text than was asked for ask to revalidate.
Nothing is taken as applicable because it could not be compared.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime

from contracts.experience import Draft, KnowledgeUnit, Limits
from contracts.keys import label_key
from contracts.labels import ProofLevel, UnitKind
from contracts.retrieval import RetrievalRequest, Validity, ValidityState

VersionKey = tuple[tuple[int, ...], int, int]
"""Release numbers, phase, number inside the phase; keys compare as their versions do."""

_VERSION = re.compile(r"v?(\d+(?:[._-]\d+)*)(?:([._ -]?)([a-z]+)[._-]?(\d*))?(?:\+\S*)?", re.ASCII)
_RELEASE = 10
_PHASES = {
    **dict.fromkeys(("dev", "snapshot", "nightly"), 0),
    **dict.fromkeys(("alpha", "a"), 1),
    **dict.fromkeys(("milestone", "m"), 2),
    **dict.fromkeys(("beta", "b"), 3),
    **dict.fromkeys(("rc", "cr", "pre", "preview"), 4),
    **dict.fromkeys(("ga", "final", "release"), _RELEASE),
    **dict.fromkeys(("sp", "p", "patch", "post", "hotfix", "hf", "u", "update"), _RELEASE + 1),
}
_SEVERITY = list(ValidityState)
FITS = Validity(state=ValidityState.OK)
"""No doubt."""
_CONDITION = 200
"""Characters of a condition that a reason quotes."""


def version_key(version: str) -> VersionKey | None:
    """Return a key in the natural order of versions, or None when `version` has none.

    Numbers compare as numbers (2.10 is after 2.9), closing zeros count nothing (7.4 is 7.4.0), release
    candidates and the like come before their release, service packs after it. A letter alone (1.0.2a) is a pre-release
    here and a later patch there: it has no key.
    """
    match = _VERSION.fullmatch(version.strip().lower())
    if match is None:
        return None
    numbers = [int(number) for number in re.split(r"[._-]", match[1])]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    separator, tag, number = match.group(2, 3, 4)
    if tag is None:
        return tuple(numbers), _RELEASE, 0
    if tag not in _PHASES or (len(tag) == 1 and not separator and not number):
        return None
    return tuple(numbers), _PHASES[tag], int(number or 0)


def judge(
    limits: Limits,
    request: RetrievalRequest,
    *,
    proof_level: ProofLevel | None,
    dated: datetime | None,
) -> Validity:
    """Return whether a candidate fits the request, with a readable reason for each doubt.

    Args:
        limits: Where the candidate applies.
        request: What the caller states and demands.
        proof_level: How well the candidate is shown; None when it has no proof level.
        dated: When its text became current; None when that is not known.
    """
    return combine(judge_limits(limits, request), _proof(proof_level, request), _freshness(dated, request))


def judge_synopsis(draft: Draft, request: RetrievalRequest, *, dropped: Collection[str] = ()) -> Validity:
    """Return a doubt for each fact that a synopsis tells otherwise than the request, where no limit is set on it.

    A synopsis tells where the case was: that is no limit, and another product or system is still unproven.

    Args:
        draft: The approved text.
        request: What the caller states.
        dropped: Facts that a broadened request states no more: leaving one out makes nothing applicable (R18).
    """
    synopsis, doubts = draft.synopsis, list[str]()
    for fact, stated, told, limited in (
        ("product", request.product.strip(), synopsis.product.strip(), draft.limits.products),
        ("system", request.system.strip(), synopsis.system.strip(), draft.limits.systems),
    ):
        is_other = label_key(stated) != label_key(told) if stated else fact in dropped
        if told and not limited and is_other:
            asked = f"{fact} {stated}:" if stated else f"{fact} not stated;"
            doubts.append(f"{asked} known for {fact} {told} by its synopsis")
    return _revalidate(*doubts) if doubts else FITS


def schema_bounds(limits: Limits) -> tuple[str, str]:
    """Return the lowest and the highest schema version of `limits`, "" for none; an exact one is both."""
    exact = limits.schema_version.strip()
    return (exact, exact) if exact else (limits.schema_from.strip(), limits.schema_to.strip())


def is_same_schema(one: str, other: str) -> bool:
    """Whether two schema versions are one: as versions where both are some, else as labels."""
    keys = version_key(one), version_key(other)
    return label_key(one) == label_key(other) if None in keys else keys[0] == keys[1]


def judge_limits(limits: Limits, request: RetrievalRequest) -> Validity:
    """Return whether the facts that the request states lie inside `limits`."""
    if not _limited(limits):  # most units: an answer judges hundreds of them
        return FITS
    return combine(*(validity for _, _, validity in _facts(limits, request)))


def stated_outside(limits: Limits, request: RetrievalRequest) -> tuple[str, ...]:
    """Return the stated facts that don't lie inside `limits`, in words; what isn't stated is none of them."""
    judged = ((f"{fact} {stated.strip()}", validity) for fact, stated, validity in _facts(limits, request) if stated)
    return tuple(fact for fact, validity in judged if validity.state is not ValidityState.OK)


def lost_cover(draft: Draft, earlier: Limits, request: RetrievalRequest) -> tuple[str, ...]:
    """Return the stated facts that `earlier` took in and the draft that replaced it doesn't, in words (R10).

    Empty when the draft covers the request, or when the earlier one didn't either. A draft covers no more than its
    units do: it leaves out what each of them leaves out.
    """
    outside = stated_outside(draft.limits, request)
    if not outside:
        of_units = [stated_outside(unit.limits, request) for unit in draft.units]
        outside = of_units[0] if all(of_units) else ()
    return () if stated_outside(earlier, request) else outside


def lost_limits(limits: Limits, earlier: Limits, request: RetrievalRequest) -> tuple[str, ...]:
    """Return the stated facts that `earlier` took in and the article that replaced it doesn't, as `lost_cover`."""
    return () if stated_outside(earlier, request) else stated_outside(limits, request)


def judge_units(units: Sequence[KnowledgeUnit], request: RetrievalRequest) -> Validity:
    """Return what the units' own limits and conditions add to their revision's validity.

    A prescription with conditions asks to revalidate: a similar symptom doesn't show that they hold, and the
    repair of one mechanism must not pass as the repair of another (R17).
    """
    judged = [(unit, judge_limits(unit.limits, request)) for unit in units]
    states = {validity.state for _, validity in judged}
    conditions = {unit.id: _conditions(unit) for unit in units}
    reasons = tuple(f"{unit.id}: {reason}" for unit, v in judged for reason in (*v.reasons, *conditions[unit.id]))
    if states == {ValidityState.OUT_OF_RANGE}:
        return Validity(state=ValidityState.OUT_OF_RANGE, reasons=reasons)
    return _revalidate(*reasons) if reasons else FITS


def combine(*judgements: Validity) -> Validity:
    """Return the most doubtful state of all, with every reason in order."""
    doubts = [judgement for judgement in judgements if judgement is not FITS]
    if not doubts:
        return FITS
    return Validity(
        state=max((doubt.state for doubt in doubts), key=_SEVERITY.index),
        reasons=tuple(reason for doubt in doubts for reason in doubt.reasons),
    )


def _limited(limits: Limits) -> bool:
    return bool(
        limits.products
        or limits.systems
        or limits.environments
        or limits.version_from
        or limits.version_to
        or limits.schema_version
        or limits.schema_from
        or limits.schema_to
    )


def _revalidate(*reasons: str) -> Validity:
    return Validity(state=ValidityState.REVALIDATE, reasons=reasons)


def _facts(limits: Limits, request: RetrievalRequest) -> Iterator[tuple[str, str, Validity]]:
    """Yield each fact by name, as the request states it, and how it lies to `limits`."""
    outside, doubtful = ValidityState.OUT_OF_RANGE, ValidityState.REVALIDATE
    for fact, stated, allowed, otherwise in (
        ("product", request.product, limits.products, outside),
        ("system", request.system, limits.systems, outside),
        ("environment", request.environment, limits.environments, doubtful),
    ):
        yield fact, stated, _among(fact, stated, allowed, otherwise=otherwise)
    fact, stated = "version", request.version
    yield fact, stated, _between(fact, stated, limits.version_from, limits.version_to)
    fact, stated = "schema version", request.schema_version
    exact = _exactly(fact, stated, limits.schema_version.strip())
    yield fact, stated, combine(exact, _between(fact, stated, limits.schema_from, limits.schema_to))


def _among(fact: str, stated: str, allowed: tuple[str, ...], *, otherwise: ValidityState) -> Validity:
    if not allowed:
        return FITS
    listed = ", ".join(allowed)
    if not stated.strip():
        return _revalidate(f"{fact} not stated; known for {listed}")
    if label_key(stated) in map(label_key, allowed):
        return FITS
    return Validity(state=otherwise, reasons=(f"{fact} {stated.strip()} is outside its limits: {listed}",))


def _exactly(fact: str, stated: str, wanted: str) -> Validity:
    if wanted and stated.strip() and is_same_schema(stated, wanted):
        return FITS
    return _among(fact, stated, (wanted,) if wanted else (), otherwise=ValidityState.REVALIDATE)


def _between(fact: str, stated: str, lowest: str, highest: str) -> Validity:
    lowest, highest = lowest.strip(), highest.strip()
    if not lowest and not highest:
        return FITS
    bounds = f"{lowest or 'any'} to {highest or 'any'}"
    if not stated.strip():
        return _revalidate(f"{fact} not stated; known for {bounds}")
    key = version_key(stated)
    low, high = version_key(lowest), version_key(highest)
    if key is None or (lowest and low is None) or (highest and high is None):
        return _revalidate(f"{fact} {stated.strip()} can't be compared with {bounds}")
    if (low is not None and key < low) or (high is not None and key > high):
        return _revalidate(f"{fact} {stated.strip()} is outside {bounds}")
    return FITS


def _proof(proof_level: ProofLevel | None, request: RetrievalRequest) -> Validity:
    demanded = request.required_proof
    if demanded.rank <= (proof_level or ProofLevel.NONE).rank:
        return FITS
    return _revalidate(f"proof level {proof_level or 'not recorded'}; {demanded} was asked for")


def _freshness(dated: datetime | None, request: RetrievalRequest) -> Validity:
    if request.not_older_than is None:
        return FITS
    oldest = _in_utc(request.not_older_than)
    if dated is None:
        return _revalidate(f"date not known; not older than {oldest.date()} was asked for")
    found = _in_utc(dated)
    if found >= oldest:
        return FITS
    if found.date() < oldest.date():
        return _revalidate(f"dated {found.date()}; not older than {oldest.date()} was asked for")
    return _revalidate(f"dated {_time(found)}; not older than {_time(oldest)} was asked for")  # the day doesn't tell


def _in_utc(moment: datetime) -> datetime:
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)


def _time(moment: datetime) -> str:
    return f"{moment.replace(tzinfo=None).isoformat(sep=' ')} UTC"


def _conditions(unit: KnowledgeUnit) -> tuple[str, ...]:
    if unit.kind is not UnitKind.PRESCRIPTION:
        return ()
    stated = (("check that it holds now", unit.use_when), ("check that it doesn't hold now", unit.avoid_when))
    return tuple(f"{what}: {_shortened(condition)}" for what, condition in stated if condition.strip())


def _shortened(condition: str) -> str:
    line = " ".join(condition.split())
    return line if len(line) <= _CONDITION else textwrap.shorten(line, _CONDITION, placeholder=" ...")
