"""Links between our pages and the Temporal UI (R12)."""

from __future__ import annotations

from api.operator_links import NO_LINKS, TemporalLinks
from workflows.operator_view import page_link


def test_a_workflow_s_address_holds_its_id_as_one_part_of_the_path() -> None:
    links = TemporalLinks("http://127.0.0.1:8422", "my space")
    assert links.experience("17") == "http://127.0.0.1:8422/namespaces/my%20space/workflows/experience%2F17"
    assert links.retrieval("17").endswith("/workflows/retrieval%2F17")
    assert links.erasure("17").endswith("/workflows/erasure%2F17")


def test_without_a_temporal_ui_there_is_no_link() -> None:
    assert NO_LINKS.experience("17") == ""


def test_a_workflow_s_details_lead_to_our_page() -> None:
    assert page_link("https://memory.example", "articles/17") == (
        "[Caselore: articles](https://memory.example/articles/17)"
    )
    assert page_link("", "articles/17") is None
