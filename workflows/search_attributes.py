"""What operators can filter by in Temporal (R12). Labels and ids only: these are stored in the clear."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from temporalio.common import SearchAttributeKey

STAGE: SearchAttributeKey[str] = SearchAttributeKey.for_keyword("ExperienceStage")
DOMAIN: SearchAttributeKey[str] = SearchAttributeKey.for_keyword("ExperienceDomain")
TENANT: SearchAttributeKey[str] = SearchAttributeKey.for_keyword("TenantId")
DUE: SearchAttributeKey[datetime] = SearchAttributeKey.for_datetime("ReviewDueAt")

ALL: tuple[SearchAttributeKey[Any], ...] = (STAGE, DOMAIN, TENANT, DUE)
"""To be registered once per namespace."""
