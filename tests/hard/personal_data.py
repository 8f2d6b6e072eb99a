"""Checks on what is published from a case that holds personal data (R6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from tests.hard.runtime import House

MISSING = "drafts made from a case are not sanitised yet (R6)"


def _not_there() -> NoReturn:
    raise NotImplementedError(MISSING)


async def article_contains_none(house: House, check: Mapping[str, Any]) -> str:
    _not_there()


async def article_contains_all(house: House, check: Mapping[str, Any]) -> str:
    _not_there()


async def index_payload_contains_none(house: House, check: Mapping[str, Any]) -> str:
    _not_there()
