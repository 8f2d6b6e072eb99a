"""What a retrieval consulted and what broadens it are parts of its record, as its reader may see them (R18, R20)."""

from __future__ import annotations

import pytest

from activities.records import retrieval_history
from contracts.consultation import ConsultationState, ReplyCitation
from tests.records.asking import answered, ask, candidate, citing
from tests.records.broadening import broadening, consultation, reply
from tests.records.test_retrieval_history import history
from tests.records.world import World


async def test_a_retrieval_shows_what_was_consulted_and_what_broadens_it_r18(world: World) -> None:
    await world.tenant("other")
    await world.principal("dev", "other")
    await world.principal("colleague", "acme")
    await world.profile("builder", "dev", strategy="development", domain="development")
    ref = f"experience/{await world.published()}"
    case_id = await world.open_case()
    request_id = (await answered(world, await ask(world, case_id=case_id), candidate(1, ref))).request.request_id
    silent, replied = consultation(brief="Which one?"), consultation()
    for asked in (silent, replied):
        await world.consultations.ask("ann", request_id, asked)
    own = await ask(world, "dev", "builder", consultation_id=replied.consultation_id)
    await answered(world, own, candidate(1, ref))
    cited = ReplyCitation(ref=ref, revision=1, why="The same log.")
    given = reply(request_id=own.request.request_id, citations=(cited,))
    await world.consultations.reply("dev", replied.consultation_id, given)
    wider = broadening(domains=("development",))
    await world.broadenings.open("ann", request_id, wider)

    for reader in ("ann", "colleague", None):
        shown = await history(world).record(reader, request_id)
        told = {each.consultation_id: each for each in shown.consultations}
        assert [each.consultation_id for each in shown.consultations] == [
            silent.consultation_id,
            replied.consultation_id,
        ]
        assert (told[silent.consultation_id].state, told[silent.consultation_id].reply) == (
            ConsultationState.OPEN,
            None,
        )
        answer = told[replied.consultation_id].reply
        assert answer is not None
        assert (answer.text, answer.citations) == (given.text, (cited,))
        (further,) = shown.broadenings
        assert (further.request_id, further.reason, further.widened) == (
            wider.request_id,
            wider.reason,
            wider.widening(),
        )
        assert (further.asked_by, shown.broadenings_left_out) == ("ann", 0)
    own_side = await history(world).record("dev", own.request.request_id)
    assert (own_side.consultations, own_side.broadenings) == ((), ()), "it was made for one, and asked for none"
    assert (await history(world).record("ann", wider.request_id)).broadenings == ()


async def test_what_a_record_leaves_out_is_counted_r20(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retrieval_history, "MOST_USES", 2)
    ref = f"experience/{await world.published()}"
    task = await answered(world, await ask(world), candidate(1, ref))
    request_id = task.request.request_id
    for more in range(4):
        shown = await history(world).record("ann", request_id)
        left_out = max(0, more - 2)
        assert (len(shown.uses), shown.uses_left_out) == (more - left_out, left_out)
        assert (len(shown.broadenings), shown.broadenings_left_out) == (more - left_out, left_out)
        await world.memory.decide("ann", citing(task, ref))
        await world.broadenings.open("ann", request_id, broadening())
