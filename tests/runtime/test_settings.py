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
        ("CASELORE_LOG_LEVEL", "loud"),
        ("CASELORE_METRICS_PORT", "0"),
        ("CASELORE_OTLP_ENDPOINT", "collector:4318"),
        ("CASELORE_TRACE_RATIO", "1.5"),
        ("CASELORE_TEMPORAL_UI_URL", "temporal.example"),
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
        ({"CASELORE_METRICS_PORT": "8420"}, "CASELORE_METRICS_PORT"),
        (
            {"CASELORE_METRICS_PORT": "9464", "CASELORE_TEMPORAL_METRICS_PORT": "9464"},
            "CASELORE_TEMPORAL_METRICS_PORT",
        ),
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


@pytest.mark.parametrize(
    ("values", "variable"),
    [
        ({"OIDC_ISSUER": "https://id.example.org"}, "OIDC_AUDIENCE"),
        ({"OIDC_AUDIENCE": "caselore"}, "OIDC_ISSUER"),
        ({"OIDC_CLIENT_ID": "pages"}, "OIDC_ISSUER"),
        ({"OIDC_ISSUER": "http://id.example.org", "OIDC_AUDIENCE": "caselore"}, "OIDC_ISSUER"),
        ({"OIDC_ISSUER": "https://user:x@id.example.org", "OIDC_AUDIENCE": "caselore"}, "OIDC_ISSUER"),
        ({**(OIDC := {"OIDC_ISSUER": "https://id.example.org", "OIDC_AUDIENCE": "api"}), "OIDC_CLIENT_SECRET": "x"},
         "OIDC_CLIENT_ID"),
        ({**OIDC, "OIDC_CLIENT_ID": "api"}, "OIDC_AUDIENCE"),
        ({**OIDC, "OIDC_CLIENT_ID": "pages", "HTTP_HOST": "0.0.0.0"}, "PUBLIC_URL"),
        ({"PUBLIC_URL": "http://caselore.example"}, "PUBLIC_URL"),
        ({"PUBLIC_URL": "https://caselore.example/path"}, "PUBLIC_URL"),
        ({"PUBLIC_URL": "caselore.example"}, "PUBLIC_URL"),
        ({**OIDC, "DEVELOPMENT_ISSUER": "true"}, "DEVELOPMENT_ISSUER"),
        ({"DEVELOPMENT_ISSUER": "true", "HTTP_HOST": "0.0.0.0"}, "DEVELOPMENT_ISSUER"),
        ({"DEVELOPMENT_ISSUER": "true", "PUBLIC_URL": "https://caselore.example"}, "DEVELOPMENT_ISSUER"),
        ({"DEVELOPMENT_ISSUER": "true", "DATABASE_URL": "postgresql://a@db/c",
          "SYSTEM_DATABASE_URL": "postgresql://s@db/c"}, "DEVELOPMENT_ISSUER"),
    ],
)  # fmt: skip
def test_settings_of_sign_in_that_do_not_fit_together_are_refused(
    monkeypatch: pytest.MonkeyPatch, values: dict[str, str], variable: str
) -> None:
    with_environment(monkeypatch, {f"CASELORE_{name}": value for name, value in values.items()})
    with pytest.raises(InvalidField) as refused:
        load_settings()
    assert refused.value.field == f"CASELORE_{variable}"
    assert refused.value.accepted


@pytest.mark.parametrize(
    ("given", "browsed"),
    [
        ("https://caselore.example:443/", "https://caselore.example"),
        ("http://localhost:80", "http://localhost"),
        ("https://caselore.example:8443", "https://caselore.example:8443"),
    ],
)
def test_a_public_url_is_what_browsers_say(monkeypatch: pytest.MonkeyPatch, given: str, browsed: str) -> None:
    """Forms are held against it: with a port that browsers leave out, each would count as of another site."""
    with_environment(monkeypatch, {"CASELORE_PUBLIC_URL": given})
    assert load_settings().browsed_url == browsed


def test_an_issuer_is_named_as_its_tokens_spell_it(monkeypatch: pytest.MonkeyPatch) -> None:
    given = {"OIDC_ISSUER": "https://id.example.org/", "OIDC_AUDIENCE": "api", "OIDC_CLIENT_SECRET": "hidden",
             "OIDC_CLIENT_ID": "pages", "PUBLIC_URL": "https://caselore.example/"}  # fmt: skip
    with_environment(monkeypatch, {f"CASELORE_{name}": value for name, value in given.items()})
    settings = load_settings()
    assert settings.oidc_issuer == "https://id.example.org/"
    assert settings.browsed_url == "https://caselore.example"
    assert "hidden" not in repr(settings)
