"""What a deployment wires together, as far as forgetting it would go unnoticed."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from activities.records.experiences import Experiences
from activities.records.lifecycle import LifecycleTable
from deploy.settings import load_settings
from deploy.wiring import build
from tests.api.world import AwayIndex, Letters


class _Addresses:
    database_url = system_database_url = "postgresql+psycopg://nobody@127.0.0.1:1/none"


async def test_r6_every_way_in_which_a_draft_comes_is_given_the_finder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without one, personal data is not looked for; a deployment must never do without."""
    monkeypatch.chdir(tmp_path)
    finders: dict[type, Any] = {}
    for cls in (Experiences, LifecycleTable):
        created = cls.__init__

        def remember(self: Any, *given: Any, _created: Any = created, **named: Any) -> None:
            finders[type(self)] = named.get("finder")
            _created(self, *given, **named)

        monkeypatch.setattr(cls, "__init__", remember)
    nothing = cast("Any", object())
    parts = build(
        load_settings(data_dir=tmp_path), cast("Any", _Addresses()), nothing, cast("Any", AwayIndex()), Letters()
    )
    assert finders == {Experiences: parts.personal_data, LifecycleTable: parts.personal_data}
    assert parts.personal_data.find("Write to someone@example.org")
    await parts.database.close()
