"""An answer on a terminal says what each candidate is and, when it abstains, what came nearest (R15)."""

from __future__ import annotations

import io

from rich.console import Console

from contracts.feedback import CandidateFeedback
from contracts.retrieval import Answer
from deploy.commands.answers import answer_panel
from tests.unit.test_mcp_answers import REF, answer


def shown(given: Answer) -> str:
    console = Console(file=io.StringIO(), width=150)
    console.print(answer_panel(given, title="t", objective="Why?", profile_id="p", most=5))
    assert isinstance(console.file, io.StringIO)
    return " ".join(console.file.getvalue().replace("│", " ").split())


def test_an_abstention_names_the_nearest_and_the_way_on_r15() -> None:
    said = shown(answer("limits"))
    assert "abstained" in said
    assert "broaden the search for a reason, or consult the domain that may know" in said
    assert f"nearest: {REF} revision 2: limited to limits" in said


def test_a_far_candidate_says_so_beside_its_validity_r15() -> None:
    assert "revalidate, far from the objective" in shown(answer("text"))
    assert "far from" not in shown(answer("text", far=""))


def test_an_answer_that_does_not_abstain_names_no_nearest() -> None:
    said = shown(answer("text").model_copy(update={"abstained": False, "nearest": ()}))
    assert "abstained" not in said
    assert "nearest" not in said


def test_r15_how_a_candidate_turned_out_earlier_is_told_r21() -> None:
    said = "Earlier use, which moves no rank: helped 1, misled 3; in all organisations: helped 9"
    assert said in shown(answer("text"))
    assert "Earlier use" not in shown(answer("text", feedback=CandidateFeedback()))


def test_r10_a_candidate_that_was_withdrawn_since_says_so() -> None:
    given = answer("text")
    assert "withdrawn" not in shown(given)
    withdrawn = given.candidates[0].as_of_now(None)
    assert "proof executed · withdrawn since · data" in shown(given.model_copy(update={"candidates": (withdrawn,)}))
