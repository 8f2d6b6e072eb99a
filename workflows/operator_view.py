"""What an operator sees of a lifecycle in the Temporal UI (R12): ids and labels, never case text."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from temporalio import workflow
from temporalio.common import SearchAttributePair, TypedSearchAttributes

with workflow.unsafe.imports_passed_through():
    from contracts.lifecycle import CLOSED, Stage
    from contracts.review import Snapshot
    from workflows import search_attributes

SUMMARY_BYTES = 300
PAGE = "page"
"""In a lifecycle's memo: links to our pages."""


def first_attributes(*, domain_id: str, tenant_id: str) -> TypedSearchAttributes:
    """Return the search attributes that a lifecycle starts with; an article's is of no tenant, ""."""
    pairs = [
        SearchAttributePair(search_attributes.STAGE, Stage.CURATOR_REVIEW.value),
        SearchAttributePair(search_attributes.DOMAIN, domain_id),
    ]
    if tenant_id:
        pairs.append(SearchAttributePair(search_attributes.TENANT, tenant_id))
    return TypedSearchAttributes(pairs)


def tenant_attribute(tenant_id: str) -> TypedSearchAttributes:
    """Return the search attribute of what belongs to a tenant and to no experience."""
    return TypedSearchAttributes([SearchAttributePair(search_attributes.TENANT, tenant_id)])


def first_summary(*, domain_id: str, tenant_id: str) -> str:
    """Return the line that a lifecycle starts with; Temporal takes 400 bytes and refuses a longer one."""
    what = f"experience in {domain_id}, from tenant {tenant_id}" if tenant_id else f"article of {domain_id}"
    return what.encode()[:SUMMARY_BYTES].decode(errors="ignore")


def page_memo(link: str | None) -> dict[str, str] | None:
    """Return the memo that a lifecycle starts with: all its runs have it, which starting details are not."""
    return None if link is None else {PAGE: link}


def page_link(pages: str, *paths: str) -> str | None:
    """Return where our pages show what a workflow is about, in Markdown; None without pages.

    Args:
        pages: What browsers have in their address bar, without a path.
        paths: Of pages, each as `kind/id`.
    """
    if not pages:
        return None
    return " · ".join(f"[Caselore: {path.partition('/')[0]}]({pages}/{path})" for path in paths)


def show_experience(snapshot: Snapshot, *, waiting: int, refused: Sequence[str]) -> None:
    """Bring search attributes and current details up to the snapshot. Call it from workflow code."""
    due, tenant = search_attributes.DUE, search_attributes.TENANT
    is_article = not snapshot.tenant_id
    workflow.upsert_search_attributes(
        [
            search_attributes.STAGE.value_set(snapshot.stage.value),
            search_attributes.DOMAIN.value_set(snapshot.domain_id),
            tenant.value_unset() if is_article else tenant.value_set(snapshot.tenant_id),
            due.value_unset() if snapshot.due_at is None else due.value_set(snapshot.due_at),
        ]
    )
    published = f"revision {snapshot.current_revision}" if snapshot.current_revision else "nothing"
    if snapshot.suspended:
        published += ", suspended"
    lines = [
        f"### {snapshot.stage}",
        f"draft revision **{snapshot.revision}**, published: **{published}**",
        f"article, domain `{snapshot.domain_id}`"
        if is_article
        else f"domain `{snapshot.domain_id}`, tenant `{snapshot.tenant_id}`",
        f"due {_moment(snapshot.due_at)}" + (", **escalated**" if snapshot.escalated else _reminded(snapshot)),
    ]
    if snapshot.stage not in CLOSED and snapshot.rests_at is Stage.RETIRED:
        lines.append("a reinstatement: retired again if it is rejected")
    if waiting:
        lines.append(f"commands waiting: {waiting}")
    lines += [f"refused {line}" for line in refused]
    if page := workflow.memo_value(PAGE, "", type_hint=str):
        lines.append(page)
    workflow.set_current_details("\n\n".join(lines))


def _reminded(snapshot: Snapshot) -> str:
    return ", reminded" if snapshot.reminded else ""


def _moment(moment: datetime | None) -> str:
    return "never" if moment is None else moment.isoformat(timespec="minutes")
