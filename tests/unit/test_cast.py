"""Who is engaged for a trial or an import: what a profile starts from is changed by an adoption only (R14)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, cast

from api.client import CaseloreClient
from contracts.adoption import StrategyView
from contracts.identity import Profile
from contracts.strategies import CONFIGURATION, DATA_INVESTIGATION, newest
from deploy.cast import engage_in


class Admin:
    """The two calls that engaging somebody makes."""

    def __init__(self, **pinned: Any) -> None:
        self.put: list[Profile] = []
        self._stored = [
            StrategyView(
                strategy=strategy, digest=strategy.digest(), created_at=datetime.now(UTC), pinned_by=(profile_id,)
            )
            for profile_id, strategy in pinned.items()
        ]

    async def strategies(self) -> list[StrategyView]:
        return self._stored

    async def put_profile(self, profile: Profile) -> None:
        self.put.append(profile)


async def test_r14_a_profile_that_is_there_keeps_what_it_starts_from() -> None:
    """Also after it adopted an older version, or another strategy."""
    admin = Admin(desk=CONFIGURATION)
    for profile_id in ("desk", "new"):
        await engage_in(cast("CaseloreClient", admin), profile_id, "data", DATA_INVESTIGATION.id, "agent")
    assert [(each.strategy_id, each.strategy_version) for each in admin.put] == [
        (CONFIGURATION.id, CONFIGURATION.version),
        (DATA_INVESTIGATION.id, newest(DATA_INVESTIGATION.id).version),
    ]
