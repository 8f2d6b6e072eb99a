"""Neither a brief nor a reply names a case or tenant of who writes it (R18, R21)."""

from __future__ import annotations

import uuid

import pytest
import pytest_asyncio

from activities.consulting import Consulting
from activities.personal_data.finder import RuleFinder
from contracts.consultation import Consultation, ConsultationState, ReplyCitation
from contracts.errors import InvalidField
from contracts.identity import Tenant
from tests.records.asking import answered, ask, candidate
from tests.records.broadening import consultation, reply
from tests.records.world import World, changed


@pytest_asyncio.fixture(scope="module", name="two")
async def fixture_two(shared: World) -> World:
    """`ann` works for acme on data, `dev` for a tenant of two names on development."""
    await shared.identities.add_tenant(Tenant(id="kestrel-01", name="Kestrel Wind Ltd"))
    await shared.principal("dev", "kestrel-01")
    await shared.profile("builder", "dev", strategy="development", domain="development")
    return shared


@pytest_asyncio.fixture
async def asked(two: World) -> Consultation:
    question = consultation()
    task = await ask(two, case_id=await two.open_case())
    await two.consultations.ask("ann", task.request.request_id, question)
    return question


def consulting(world: World) -> Consulting:
    return Consulting(world.consultations, RuleFinder())


async def test_r21_a_reply_names_nothing_of_the_side_that_writes_it(two: World, asked: Consultation) -> None:
    """Its case, origin and request, and each tenant of whoever replies, in the text and beside what is cited."""
    theirs = await two.deliver(f"KW-{uuid.uuid4().hex[:6]}", by="dev", tenant="kestrel-01")
    second = await two.open_case(by="dev", tenant="kestrel-01")
    external_id = two.one("SELECT o.external_id FROM origins o JOIN cases c ON c.origin_id = o.id WHERE c.id = %s",
                          theirs.case_id)  # fmt: skip
    ref = f"experience/{await two.published()}"
    fields = {"consultation_id": asked.consultation_id, "case_id": theirs.case_id}
    task = await answered(two, await ask(two, "dev", "builder", **fields), candidate(1, ref))
    own = task.request.request_id
    before = two.everything()
    for word in (external_id.lower(), theirs.case_id, uuid.UUID(theirs.case_id).hex, own, "kestrel 01",
                 "KESTREL WIND LTD", second):  # fmt: skip
        for field, said in (
            ("text", reply(text=f"As in {word}: it skips it.", request_id=own)),
            ("citations.why", reply(request_id=own, citations=(ReplyCitation(ref=ref, revision=1, why=f"{word}."),))),
        ):
            with pytest.raises(InvalidField) as refused:
                await consulting(two).reply("dev", asked.consultation_id, said)
            assert refused.value.field == field
            assert word.lower() not in str(refused.value).lower(), "refusals are logged"
    assert changed(two.everything(), before) == []


async def test_r21_a_reply_without_a_retrieval_names_no_case_or_tenant_either(two: World, asked: Consultation) -> None:
    """What was stored is repeated, also when its words name a tenant that its writer came to later (R8)."""
    case_id = await two.open_case(by="dev", tenant="kestrel-01")
    for word in ("Kestrel-01", case_id.upper()):
        with pytest.raises(InvalidField, match="names"):
            await consulting(two).reply("dev", asked.consultation_id, reply(text=f"As in {word}."))
    said = reply(text="It skips the vermilion letters.")
    view = await consulting(two).reply("dev", asked.consultation_id, said)
    assert view.state is ConsultationState.REPLIED
    await two.tenant("vermilion")
    await two.grant("dev", "vermilion")
    assert await consulting(two).reply("dev", asked.consultation_id, said) == view


@pytest.mark.parametrize("spelling", ["{}", "{{{}}}", "case/{}.", "deadbeef {}"])
async def test_r21_a_brief_names_no_other_case_that_its_asker_sees(two: World, spelling: str) -> None:
    """In every spelling of its id; an id of something else passes."""
    task = await ask(two, case_id=await two.open_case())
    other = await two.open_case()
    before = two.everything()
    for written in (other, other.upper(), uuid.UUID(other).hex, other.replace("-", "\u2013"), other.replace("-", " ")):
        with pytest.raises(InvalidField) as refused:
            brief = f"What of {spelling.format(written)}"
            await consulting(two).ask("ann", task.request.request_id, consultation(brief=brief))
        assert refused.value.field == "brief"
        assert other not in str(refused.value)
    assert changed(two.everything(), before) == []
    ref = f"experience/{uuid.uuid4()}"
    await consulting(two).ask("ann", task.request.request_id, consultation(brief=f"Is {ref} still so?"))
