"""Rights that lapsed don't go on from a stored retrieval; what was stored is repeated without harm (R8, R13, R18)."""

from __future__ import annotations

from typing import Any

import pytest
import pytest_asyncio

from contracts.errors import (
    CaseloreError,
    IdempotencyConflict,
    InvalidField,
    OutsideScope,
    UnknownCase,
    UnknownConsultation,
    UnknownProfile,
)
from tests.records.asking import answered, ask
from tests.records.broadening import broadening, consultation
from tests.records.world import World, changed


@pytest_asyncio.fixture(name="office")
async def fixture_office(world: World) -> World:
    """`ann` and `eva` work for acme on data, `dev` for another tenant on development."""
    await world.tenant("other")
    await world.principal("dev", "other")
    await world.profile("builder", "dev", strategy="development", domain="development")
    await world.principal("eva", "acme")
    await world.profile("data-agent", "eva")
    return world


def take_profile(world: World, who: str) -> None:
    world.owner.execute("DELETE FROM profile_members WHERE principal_id = %s", (who,))


def take_grants(world: World, who: str) -> None:
    world.owner.execute("DELETE FROM grants WHERE principal_id = %s", (who,))


def move_profile(world: World, domain: str) -> None:
    """Move `data-agent`; no trigger keeps the audit of it."""
    world.owner.execute("SET session_replication_role = replica")
    world.owner.execute("UPDATE profiles SET domain_id = %s WHERE id = 'data-agent'", (domain,))


@pytest.mark.parametrize("has_case", [True, False])
async def test_r13_nobody_consults_for_a_retrieval_of_their_own_without_its_profile(
    office: World, has_case: bool
) -> None:
    """R18: who sees a colleague's retrieval by the case consults for it as before."""
    case_id = await office.open_case() if has_case else None
    task = await answered(office, await ask(office, "eva", case_id=case_id))
    take_profile(office, "eva")
    before = office.everything()
    with pytest.raises(UnknownProfile):
        await office.consultations.ask("eva", task.request.request_id, consultation())
    assert changed(office.everything(), before) == []
    if has_case:
        take_profile(office, "ann")
        await office.consultations.ask("ann", task.request.request_id, consultation())


@pytest.mark.parametrize(
    ("has_case", "tenant_id", "error"),
    [(True, None, UnknownCase), (False, "acme", OutsideScope), (False, None, OutsideScope)],
)
async def test_r13_nobody_consults_without_a_grant(
    office: World, has_case: bool, tenant_id: str | None, error: type[CaseloreError]
) -> None:
    """R18: in the tenant that the retrieval names, and any where it names none."""
    case_id = await office.open_case() if has_case else None
    task = await answered(office, await ask(office, "eva", case_id=case_id, tenant_id=tenant_id))
    take_grants(office, "eva")
    if tenant_id is not None:
        await office.grant("eva", "other")
    before = office.everything()
    with pytest.raises(error):
        await office.consultations.ask("eva", task.request.request_id, consultation())
    assert changed(office.everything(), before) == []
    if tenant_id is None:
        await office.grant("eva", "other" if case_id is None else "acme")
        await office.consultations.ask("eva", task.request.request_id, consultation())


@pytest.mark.parametrize(("fields", "error"), [({"tenant_id": "acme"}, OutsideScope), ({}, UnknownCase)])
async def test_r13_nobody_broadens_within_a_scope_that_was_taken(
    office: World, fields: dict[str, Any], error: type[CaseloreError]
) -> None:
    case_id = None if fields else await office.open_case()
    task = await answered(office, await ask(office, "eva", case_id=case_id, **fields))
    take_grants(office, "eva")
    before = office.everything()
    with pytest.raises(error):
        await office.broadenings.open("eva", task.request.request_id, broadening())
    assert changed(office.everything(), before) == []


async def test_r18_nobody_broadens_for_a_question_that_was_withdrawn(office: World) -> None:
    """A typed refusal, and none of the database."""
    task = await ask(office, case_id=await office.open_case())
    asked = consultation()
    await office.consultations.ask("ann", task.request.request_id, asked)
    own = await answered(office, await ask(office, "dev", "builder", consultation_id=asked.consultation_id))
    await office.broadenings.open("dev", own.request.request_id, broadening())
    await office.consultations.withdraw("ann", asked.consultation_id)
    before = office.everything()
    with pytest.raises(UnknownConsultation):
        await office.broadenings.open("dev", own.request.request_id, broadening())
    assert changed(office.everything(), before) == []


async def test_r8_what_was_broadened_is_repeated_whatever_changed_since(office: World) -> None:
    """Its id with other content stays a conflict, and so does another's."""
    task = await answered(office, await ask(office, "eva", case_id=await office.open_case(), tenant_id="acme"))
    own, asked = task.request.request_id, broadening(domains=("development",))
    await office.broadenings.open("eva", own, asked)
    changes = (lambda: move_profile(office, "development"), lambda: take_profile(office, "eva"),
               lambda: take_grants(office, "eva"))  # fmt: skip
    for change in changes:
        change()
        before = office.everything()
        await office.broadenings.open("eva", own, asked)
        with pytest.raises(IdempotencyConflict) as refused:
            await office.broadenings.open("eva", own, asked.model_copy(update={"reason": "Another."}))
        assert refused.value.field == "request_id"
        assert changed(office.everything(), before) == []
    before = office.everything()
    with pytest.raises(IdempotencyConflict):
        await office.broadenings.open("ann", own, asked)
    with pytest.raises(CaseloreError):
        await office.broadenings.open("dev", own, asked)
    assert changed(office.everything(), before) == []


async def test_r8_a_question_is_repeated_whatever_changed_since(office: World) -> None:
    task = await answered(office, await ask(office, "eva"))
    asked = consultation()
    view = await office.consultations.ask("eva", task.request.request_id, asked)
    take_profile(office, "eva")
    take_grants(office, "eva")
    before = office.everything()
    assert await office.consultations.ask("eva", task.request.request_id, asked) == view
    with pytest.raises(IdempotencyConflict):
        await office.consultations.ask("eva", task.request.request_id, asked.model_copy(update={"brief": "Other?"}))
    assert changed(office.everything(), before) == []


@pytest.mark.parametrize("strategy", ["root-classification", "effort-assessment"])
async def test_r18_a_strategy_that_reads_every_domain_is_given_no_further_one(office: World, strategy: str) -> None:
    """Neither as the one before nor as another: nothing is recorded as wider that isn't."""
    await office.profile("reader", "ann", strategy=strategy)
    wide, narrow = (
        await answered(office, await ask(office, profile="reader")),
        await answered(office, await ask(office)),
    )
    further: list[tuple[str, dict[str, Any]]] = [
        ("domains", {"domains": ("development",)}), ("every_domain", {"every_domain": True}),
    ]  # fmt: skip
    before = office.everything()
    for field, way in further:
        for task, more in ((wide, way), (narrow, {**way, "strategy_id": strategy})):
            with pytest.raises(InvalidField) as refused:
                await office.broadenings.open("ann", task.request.request_id, broadening(**more))
            assert refused.value.field == field
            assert "strategy_id" in refused.value.accepted
    assert changed(office.everything(), before) == []
    for way in ({"results": 40}, {"domains": ("development",), "strategy_id": "development"}):
        await office.broadenings.open("ann", wide.request.request_id, broadening(**way))
