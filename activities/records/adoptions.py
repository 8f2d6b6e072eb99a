"""Strategies as they are stored, and how a profile comes to another version: proposed, then decided (R14)."""

from __future__ import annotations

from typing import Any

from sqlalchemy import RowMapping, text
from sqlalchemy.ext.asyncio import AsyncConnection

from activities.records.database import Database
from activities.records.delegations import roles_held
from activities.records.ids import is_id
from contracts.adoption import (
    Adoption,
    AdoptionDecision,
    AdoptionState,
    AdoptionVerdict,
    AdoptionView,
    Pin,
    StrategyView,
)
from contracts.errors import (
    IdempotencyConflict,
    InvalidField,
    NotReviewer,
    SamePerson,
    StaleDigest,
    StaleRevision,
    StaleStage,
    UnknownAdoption,
    UnknownProfile,
    UnknownStrategy,
)
from contracts.labels import DomainRole
from contracts.strategy import Strategy

_STRATEGIES = text("""
SELECT v.definition, v.digest, v.created_at, v.first_used_at,
       ARRAY(SELECT p.id FROM profiles p WHERE p.strategy_id = v.strategy_id AND p.strategy_version = v.version
              ORDER BY p.id) AS pinned_by
  FROM strategy_versions v ORDER BY v.strategy_id, v.version LIMIT :limit
""")
_PROFILE = text("""
SELECT id, domain_id, strategy_id, strategy_version FROM profiles WHERE id = :id
""")
_LOCKED_PROFILE = text(f"{_PROFILE.text} FOR UPDATE")
_DIGESTS = text("SELECT version, digest FROM strategy_versions WHERE strategy_id = :id ORDER BY version")
_ADD = text("""
INSERT INTO strategy_adoptions (id, profile_id, strategy_id, version, digest, expected_strategy_id, expected_version,
                                reason, proposed_by)
VALUES (CAST(:id AS uuid), :profile_id, :strategy_id, :version, :digest, :expected_strategy_id, :expected_version,
        :reason, :by)
ON CONFLICT (id) DO NOTHING
""")
_VIEW = """
SELECT a.id::text AS id, a.profile_id, a.strategy_id, a.version, a.digest, a.expected_strategy_id, a.expected_version,
       a.reason, a.proposed_by, a.proposed_at, a.state, a.decision_id::text AS decision_id, a.decided_by,
       a.on_behalf_of, a.decision_reason, a.decided_at, p.domain_id
  FROM strategy_adoptions a JOIN profiles p ON p.id = a.profile_id
"""
_ONE = text(f"{_VIEW} WHERE a.id = CAST(:id AS uuid)")
_LOCKED = text(f"{_VIEW} WHERE a.id = CAST(:id AS uuid) FOR UPDATE OF a")
_LIST = text(f"""{_VIEW}
 WHERE (CAST(:profile_id AS text) IS NULL OR a.profile_id = :profile_id) AND (NOT :waiting OR a.state = 'proposed')
 ORDER BY a.proposed_at DESC, a.id LIMIT :limit
""")
_DECIDE = text("""
UPDATE strategy_adoptions
   SET state = :state, decision_id = CAST(:decision_id AS uuid), decided_by = :by, on_behalf_of = :on_behalf_of,
       decision_reason = :reason, decided_at = clock_timestamp()
 WHERE id = CAST(:id AS uuid)
""")
_DECIDED = text("SELECT id::text FROM strategy_adoptions WHERE decision_id = CAST(:decision_id AS uuid)")
_PIN = text("UPDATE profiles SET strategy_id = :strategy_id, strategy_version = :version WHERE id = :profile_id")
MOST = 200
"""Strategy versions or adoptions that one listing holds."""


class AdoptionsTable:
    """Strategy versions, and the reviewed change of what a profile pins."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def strategies(self, principal_id: str) -> list[StrategyView]:
        """Return every stored version with its definition, its digest and the profiles that start from it."""
        async with self._database.as_principal(principal_id) as connection:
            rows = (await connection.execute(_STRATEGIES, {"limit": MOST})).mappings()
            return [
                StrategyView(strategy=Strategy.model_validate(row["definition"]), **_without(row, "definition"))
                for row in rows
            ]

    async def adoptions(
        self, principal_id: str, *, profile_id: str | None = None, waiting: bool = False
    ) -> list[AdoptionView]:
        """Return proposals, the newest first.

        Args:
            principal_id: Who asks.
            profile_id: Only of this profile.
            waiting: Only those that nobody has decided.
        """
        async with self._database.as_principal(principal_id) as connection:
            values = {"profile_id": profile_id, "waiting": waiting, "limit": MOST}
            return [_view(row) for row in (await connection.execute(_LIST, values)).mappings()]

    async def propose(self, principal_id: str, adoption: Adoption, *, administrator: bool = False) -> AdoptionView:
        """Propose another version for a profile; idempotent by the adoption's id.

        Raises:
            UnknownProfile, UnknownStrategy: It names what isn't there.
            NotReviewer: The proposer is neither an administrator nor curator or owner of the profile's domain.
            StaleDigest: The version's definition is not the one that was read.
            StaleRevision: The profile pins something else by now.
            InvalidField: The profile pins it already.
            IdempotencyConflict: The id was used for another proposal.
        """
        async with self._database.as_system() as connection:
            known = await _read(connection, _ONE, adoption.id)
            if known is None:
                profile = await _profile(connection, adoption.profile_id, _PROFILE)
                domain = profile["domain_id"]
                if not administrator and not await roles_held(connection, principal_id, domain):
                    raise NotReviewer(
                        f"Only who reviews for {domain!r}, or an administrator, may propose this.",
                        field="profile_id",
                        accepted="a profile of a domain that you curate or own",
                    )
                await _require_definition(connection, adoption.pin, adoption.digest)
                _require_pin(profile, adoption.expected)
                if adoption.pin == adoption.expected:
                    raise InvalidField("The profile pins this version already.", field="pin", accepted="another one")
                await connection.execute(_ADD, {**_values(adoption), "by": principal_id})
                known = await _read(connection, _ONE, adoption.id)
        if known is None or not known.is_of(principal_id, adoption):
            raise IdempotencyConflict("This id was used for another proposal.", field="id", accepted="a new id")
        return known

    async def decide(self, principal_id: str, adoption_id: str, decision: AdoptionDecision) -> AdoptionView:
        """Adopt or decline a proposal; the pin changes in the same transaction. Idempotent by `decision_id`.

        Raises:
            UnknownAdoption: There is no such proposal.
            NotReviewer: The caller doesn't own the profile's domain, by a role of its own or a lent one.
            SamePerson: The caller, or whom it stands in for, proposed it.
            StaleDigest: The caller read another definition.
            StaleStage: It was decided otherwise.
            StaleRevision: The profile pins something else than when it was proposed.
            IdempotencyConflict: The decision's id was used for another proposal.
        """
        async with self._database.as_system() as connection:
            # The profile first, as every change of it: two proposals for one profile are decided one after the other.
            found = await _read(connection, _ONE, adoption_id)
            if found is None:
                raise UnknownAdoption("There is no such adoption.", field="adoption_id")
            profile = await _profile(connection, found.profile_id, _LOCKED_PROFILE)
            behalf = await _right_to_decide(connection, principal_id, found)
            found = await _read(connection, _LOCKED, adoption_id) or found
            if found.state is not AdoptionState.PROPOSED:
                return _decided_before(found, principal_id, decision)
            used = (await connection.execute(_DECIDED, {"decision_id": decision.decision_id})).first()
            if used is not None:
                raise IdempotencyConflict("This id was used for another decision.", field="decision_id")
            if decision.digest != found.digest:
                raise StaleDigest("You read another definition.", field="digest", accepted=found.digest)
            is_adopted = decision.verdict is AdoptionVerdict.ADOPT
            if is_adopted:
                await _require_definition(connection, found.pin, found.digest)
                _require_pin(profile, found.expected)
            values = {
                "id": adoption_id,
                "state": AdoptionState.ADOPTED if is_adopted else AdoptionState.DECLINED,
                "by": principal_id,
                "on_behalf_of": behalf,
                **decision.model_dump(include={"decision_id", "reason"}),
            }
            await connection.execute(_DECIDE, values)
            if is_adopted:
                pin = {"profile_id": found.profile_id, **found.pin.model_dump()}
                await connection.execute(_PIN, pin)
            return await _read(connection, _ONE, adoption_id) or found


async def _right_to_decide(connection: AsyncConnection, principal_id: str, adoption: AdoptionView) -> str | None:
    """Return whose role the caller decides with: None for its own (R7)."""
    held = await roles_held(connection, principal_id, adoption.domain_id, DomainRole.OWNER)
    if not held:
        raise NotReviewer(
            f"Only an owner of {adoption.domain_id!r} decides this.", field="adoption_id", accepted="an owner"
        )
    apart = [behalf for behalf in held if behalf != adoption.proposed_by]
    if principal_id == adoption.proposed_by or not apart:
        raise SamePerson("Who proposed it doesn't decide it.", field="adoption_id", accepted="another owner")
    return apart[0]


def _decided_before(found: AdoptionView, principal_id: str, decision: AdoptionDecision) -> AdoptionView:
    """Return a decision that is made again; refuse another one."""
    state = AdoptionState.ADOPTED if decision.verdict is AdoptionVerdict.ADOPT else AdoptionState.DECLINED
    same = (found.decision_id, found.decided_by, found.state, found.decision_reason, found.digest)
    if same == (decision.decision_id, principal_id, state, decision.reason, decision.digest):
        return found
    if found.decision_id == decision.decision_id:
        raise IdempotencyConflict("This id was used for another decision.", field="decision_id", accepted="a new id")
    raise StaleStage(f"It was {found.state} by {found.decided_by}.", field="adoption_id", accepted="a new proposal")


async def _profile(connection: AsyncConnection, profile_id: str, sql: Any) -> RowMapping:
    row = (await connection.execute(sql, {"id": profile_id})).mappings().first()
    if row is None:
        raise UnknownProfile(f"There is no profile {profile_id!r}.", field="profile_id")
    return row


async def _require_definition(connection: AsyncConnection, pin: Pin, digest: str) -> None:
    rows = (await connection.execute(_DIGESTS, {"id": pin.strategy_id})).mappings()
    digests = {row["version"]: row["digest"] for row in rows}
    if pin.version not in digests:
        raise UnknownStrategy(
            f"There is no version {pin.version} of {pin.strategy_id!r}.",
            field="pin.version" if digests else "pin.strategy_id",
            accepted=", ".join(map(str, digests)) or "a known strategy",
        )
    if digests[pin.version] != digest:
        raise StaleDigest("The version's definition is another one.", field="digest", accepted=digests[pin.version])


def _require_pin(profile: RowMapping, expected: Pin) -> None:
    pinned = Pin(strategy_id=profile["strategy_id"], version=profile["strategy_version"])
    if pinned != expected:
        raise StaleRevision(
            f"The profile pins {pinned.strategy_id} version {pinned.version}.",
            field="expected",
            accepted=f"{pinned.strategy_id} version {pinned.version}",
        )


async def _read(connection: AsyncConnection, sql: Any, adoption_id: str) -> AdoptionView | None:
    if not is_id(adoption_id):
        return None
    row = (await connection.execute(sql, {"id": adoption_id})).mappings().first()
    return None if row is None else _view(row)


def _view(row: RowMapping) -> AdoptionView:
    return AdoptionView(
        pin=Pin(strategy_id=row["strategy_id"], version=row["version"]),
        expected=Pin(strategy_id=row["expected_strategy_id"], version=row["expected_version"]),
        **_without(row, "strategy_id", "version", "expected_strategy_id", "expected_version"),
    )


def _values(adoption: Adoption) -> dict[str, Any]:
    return {
        **adoption.model_dump(include={"id", "profile_id", "digest", "reason"}),
        **adoption.pin.model_dump(),
        **{f"expected_{name}": value for name, value in adoption.expected.model_dump().items()},
    }


def _without(row: RowMapping, *names: str) -> dict[str, Any]:
    return {name: row[name] for name in row if name not in names}
