"""Settings: safe defaults, and a refusal that names the variable."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from pydantic import ValidationError

from contracts import limits
from contracts.errors import InvalidField
from deploy.settings import Settings, load_settings

SERVER = {
    "CASELORE_DATABASE_URL": "postgresql://app:hidden@db/caselore",
    "CASELORE_SYSTEM_DATABASE_URL": "postgres://system:hidden@db:5433/caselore",
    "CASELORE_TEMPORAL_ADDRESS": "temporal:7233",
    "CASELORE_QDRANT_URL": "http://qdrant:6333/",
    "CASELORE_QDRANT_API_KEY": "hidden",
}


def with_environment(monkeypatch: pytest.MonkeyPatch, values: dict[str, str]) -> None:
    for name, value in values.items():
        monkeypatch.setenv(name, value)


def test_without_variables_everything_is_embedded() -> None:
    settings = load_settings()
    assert settings.is_database_embedded
    assert settings.is_temporal_embedded
    assert settings.is_index_embedded
    assert settings.is_embedded
    assert settings.http_host == "127.0.0.1"
    assert (settings.review_deadline, settings.escalation_after) == (limits.REVIEW_DEADLINE, limits.ESCALATION_AFTER)
    with pytest.raises(ValidationError):
        settings.http_port = 1  # pyright: ignore[reportAttributeAccessIssue]


def test_a_server_setup_uses_the_adapters_driver_and_hides_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    with_environment(monkeypatch, SERVER)
    settings = load_settings()
    assert not settings.is_embedded
    assert settings.database_url == "postgresql+psycopg://app:hidden@db/caselore"
    assert settings.system_database_url == "postgresql+psycopg://system:hidden@db:5433/caselore"
    assert settings.qdrant_url == "http://qdrant:6333"
    assert "hidden" not in repr(settings)


def test_times_and_empty_values(monkeypatch: pytest.MonkeyPatch) -> None:
    with_environment(
        monkeypatch,
        {
            "CASELORE_REVIEW_DEADLINE": "P2D",
            "CASELORE_ESCALATION_AFTER": "90",
            "CASELORE_DATABASE_URL": "",
            "CASELORE_EMBEDDING_PATH": "~/model",
        },
    )
    settings = load_settings()
    assert settings.review_deadline == timedelta(days=2)
    assert settings.escalation_after == timedelta(seconds=90)
    assert settings.is_database_embedded
    assert settings.embedding_path == Path.home() / "model"


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("CASELORE_HTTP_PORT", "many"),
        ("CASELORE_HTTP_PORT", "70000"),
        ("CASELORE_TEMPORAL_UI_PORT", "0"),
        ("CASELORE_TEMPORAL_ADDRESS", "http://temporal"),
        ("CASELORE_TEMPORAL_ADDRESS", "temporal"),
        ("CASELORE_DATABASE_URL", "mysql://app:hidden@db/caselore"),
        ("CASELORE_DATABASE_URL", "postgresql://app:hidden@db:port/caselore"),
        ("CASELORE_DATABASE_URL", "app:hidden"),
        ("CASELORE_QDRANT_URL", "qdrant:6333"),
        ("CASELORE_REVIEW_DEADLINE", "-5"),
        ("CASELORE_REVIEW_DEADLINE", "soon"),
        ("CASELORE_LIFECYCLE_QUEUE", " "),
        ("CASELORE_EMBEDDING_THREADS", "0"),
    ],
)
def test_a_bad_value_names_its_variable(monkeypatch: pytest.MonkeyPatch, variable: str, value: str) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(InvalidField) as refused:
        load_settings()
    assert refused.value.field == variable
    assert refused.value.accepted
    assert "hidden" not in str(refused.value)


@pytest.mark.parametrize(
    ("values", "variable"),
    [
        ({"CASELORE_DATABASE_URL": SERVER["CASELORE_DATABASE_URL"]}, "CASELORE_SYSTEM_DATABASE_URL"),
        ({"CASELORE_OWNER_DATABASE_URL": SERVER["CASELORE_DATABASE_URL"]}, "CASELORE_DATABASE_URL"),
        ({"CASELORE_TEMPORAL_PORT": "8420"}, "CASELORE_TEMPORAL_PORT"),
        ({"CASELORE_PROJECTION_QUEUE": "retrieval"}, "CASELORE_PROJECTION_QUEUE"),
    ],
)
def test_settings_must_fit_together(monkeypatch: pytest.MonkeyPatch, values: dict[str, str], variable: str) -> None:
    with_environment(monkeypatch, values)
    with pytest.raises(InvalidField) as refused:
        load_settings()
    assert refused.value.field == variable


def test_an_unknown_override_is_refused() -> None:
    with pytest.raises(InvalidField):
        load_settings(http_prot=1)
    assert "http_port" in Settings.model_fields
