"""The closed word lists of the vocabulary."""

from __future__ import annotations

from enum import StrEnum


class Outcome(StrEnum):
    """What was observed in the case; a label on everything derived from it (R5)."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    REJECTED_ROUTE = "rejected_route"
    UNVERIFIED = "unverified"


class ProofLevel(StrEnum):
    """How well the outcome is shown, weakest first."""

    NONE = "none"
    REPORTED = "reported"
    EXECUTED = "executed"
    VERIFIED = "verified"

    @property
    def rank(self) -> int:
        """0 for the weakest level."""
        return _PROOF_RANKS[self]


_PROOF_RANKS = {level: rank for rank, level in enumerate(ProofLevel)}


class UnitKind(StrEnum):
    """What a knowledge unit says: how things are, or what to do."""

    PROPOSITION = "proposition"
    PRESCRIPTION = "prescription"


class PaperKind(StrEnum):
    """What a case paper is; only `execution` and `proof` carry a result (R5, R20)."""

    EVIDENCE = "evidence"
    EXECUTION = "execution"
    PROOF = "proof"
    MEMORY_USE = "memory_use"


class CaseState(StrEnum):
    """Where a live case stands (R3)."""

    OPEN = "open"
    WAITING = "waiting"
    COMPLETED = "completed"
    REOPENED = "reopened"


class PrincipalKind(StrEnum):
    """Who a verified identity belongs to."""

    PERSON = "person"
    AGENT = "agent"


class DomainRole(StrEnum):
    """What a principal does for a domain's reviews (R7)."""

    CURATOR = "curator"
    OWNER = "owner"


class CandidateKind(StrEnum):
    """Which of the three sources a candidate comes from (spec section 1)."""

    CASE = "case"
    EXPERIENCE = "experience"
    ARTICLE = "article"


class Collection(StrEnum):
    """The three search indexes."""

    CASES = "cases"
    ROUTING = "routing"
    DETAIL = "detail"


class ValidityState(StrEnum):
    """Whether a candidate's limits fit the request (R17)."""

    OK = "ok"
    REVALIDATE = "revalidate"
    OUT_OF_RANGE = "out_of_range"
