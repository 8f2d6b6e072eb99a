"""What a Caselore process is told from outside: `CASELORE_*` environment variables, each with a safe default."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints, ValidationError, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict, SettingsError

from activities.issuer.safe_urls import is_loopback, is_safe_url
from contracts import limits
from contracts.errors import InvalidField

PREFIX = "CASELORE_"
EMBEDDING_MODEL = "sentence-transformers/all-MiniLM-L6-v2"


def _database_url(value: str) -> str:
    """Return the URL with the driver that the adapters use."""
    from sqlalchemy import make_url  # a command that only calls by HTTP has no use for it
    from sqlalchemy.exc import ArgumentError

    try:
        url = make_url(value)
    except (ArgumentError, ValueError):
        # The value is not repeated: it may hold a password.
        raise ValueError("a URL like postgresql://user:password@host:5432/caselore") from None
    if url.drivername not in ("postgres", "postgresql", "postgresql+psycopg") or not url.database:
        raise ValueError("a PostgreSQL URL with a database name, postgresql://user:password@host:5432/caselore")
    return url.set(drivername="postgresql+psycopg").render_as_string(hide_password=False)


def _host_and_port(value: str) -> str:
    host, _, port = value.rpartition(":")
    if not host or "/" in host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise ValueError("host:port, without a scheme")
    return value


def _http_url(value: str) -> str:
    if not value.startswith(("http://", "https://")):
        raise ValueError("a URL that starts with http:// or https://")
    return value.rstrip("/")


def _public_url(value: str) -> str:
    url = value.rstrip("/")
    if not is_safe_url(url) or urlsplit(url).path or urlsplit(url).query:
        raise ValueError("https://host, or http:// with a host on this machine; without a path")
    # As browsers say it, who leave out the port that goes without saying.
    return url.removesuffix(":443" if url.startswith("https:") else ":80")


def _issuer_url(value: str) -> str:
    if not is_safe_url(value) or urlsplit(value).query:
        raise ValueError("an https URL, or http:// with a host on this machine")
    return value  # as it is spelt: a slash at its end is a part of its name


def _seconds(value: object) -> object:
    """Let a plain number in a variable's text mean seconds."""
    return float(value) if isinstance(value, str) and value.strip().lstrip("-").isdecimal() else value


def _positive(value: timedelta) -> timedelta:
    if value <= timedelta(0):
        raise ValueError("a time longer than zero, P5D or seconds")
    return value


Port = Annotated[int, Field(ge=1, le=65535)]
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=limits.IDENTIFIER)]
DatabaseUrl = Annotated[str, AfterValidator(_database_url)]
Wait = Annotated[timedelta, BeforeValidator(_seconds), AfterValidator(_positive)]


class Settings(BaseSettings):
    """The settings of one process; read them with `load_settings`, which names the variable at fault."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_ignore_empty=True, frozen=True, extra="forbid", validate_default=True
    )

    data_dir: Annotated[Path, AfterValidator(lambda value: value.expanduser().absolute())] = Path(".caselore")
    """Everything that the embedded services keep."""

    database_url: DatabaseUrl | None = Field(None, repr=False)
    """The application's role; unset: an embedded database."""
    system_database_url: DatabaseUrl | None = Field(None, repr=False)
    """The system's role: projector, delivery, erasure."""
    owner_database_url: DatabaseUrl | None = Field(None, repr=False)
    """The schema's owner; needed only to migrate."""

    temporal_address: Annotated[str, AfterValidator(_host_and_port)] | None = None
    """host:port; unset: an embedded dev server."""
    temporal_namespace: Name = "default"
    lifecycle_queue: Name = "lifecycle"
    retrieval_queue: Name = "retrieval"
    projection_queue: Name = "projection"

    http_host: Name = "127.0.0.1"
    http_port: Port = 8420
    public_url: Annotated[str, AfterValidator(_public_url)] | None = None
    """What browsers have in their address bar, when it isn't host and port: https, or this machine."""
    temporal_port: Port = 8421
    """Of the embedded dev server."""
    temporal_ui_port: Port = 8422
    """Of the embedded dev server's UI."""
    temporal_ui_url: Annotated[str, AfterValidator(_http_url)] | None = None
    """Where a browser finds the Temporal UI, for links from our pages; unset: the embedded one's."""

    log_level: Literal["debug", "info", "warning", "error"] | None = None
    """Our own log lines from here on; `info` has one for each HTTP request. Unset: warning."""
    metrics_port: Port | None = None
    """Of a listener that shows metrics to whoever reaches it; unset: none, administrators find them in the API."""
    metrics_host: Name = "127.0.0.1"
    """Of the listeners for metrics."""
    temporal_metrics_port: Port | None = None
    """Of a second listener, with what Temporal's SDK measures of our workers; unset: none."""
    otlp_endpoint: Annotated[str, AfterValidator(_http_url)] | None = None
    """A collector's OTLP/HTTP address, such as http://127.0.0.1:4318; unset: nothing is traced."""
    trace_ratio: Annotated[float, Field(ge=0, le=1)] = 1.0
    """The part of traces that is kept, of those that no caller has decided on."""

    oidc_issuer: Annotated[str, AfterValidator(_issuer_url)] | None = None
    """Who signs people in, as its tokens spell it; unset: API keys only."""
    oidc_audience: Name | None = None
    """Whom a bearer token must be for."""
    oidc_client_id: Name | None = None
    """Signs browsers in at the issuer; unset: bearer tokens only."""
    oidc_client_secret: str | None = Field(None, repr=False)
    """Unset: a public client, by PKCE alone."""
    development_issuer: bool = False
    """An issuer in this process that lets whoever reaches it sign in as anybody; for this machine only."""

    qdrant_url: Annotated[str, AfterValidator(_http_url)] | None = None
    """Unset: the engine in this process."""
    qdrant_api_key: str | None = Field(None, repr=False)

    embedding_model: Name = EMBEDDING_MODEL
    embedding_path: Annotated[Path, AfterValidator(lambda value: value.expanduser().absolute())] | None = None
    """A folder with the model's files; unset: the installed weights."""
    embedding_threads: Annotated[int, Field(ge=1, le=256)] | None = 1
    """More threads cost more processor time for one text than they save, where the machine has other work."""

    reconcile_every: Wait = timedelta(hours=1)
    """From one comparison of record and indexes to the next."""
    review_deadline: Wait = limits.REVIEW_DEADLINE
    escalation_after: Wait = limits.ESCALATION_AFTER

    @model_validator(mode="after")
    def _fit_together(self) -> Self:
        if self.database_url is not None and self.system_database_url is None:
            raise ValueError(f"{PREFIX}SYSTEM_DATABASE_URL: needed with {PREFIX}DATABASE_URL")
        if self.database_url is None and (self.system_database_url or self.owner_database_url):
            raise ValueError(f"{PREFIX}DATABASE_URL: needed with the other database URLs")
        self._distinct("http_port", "temporal_port", "temporal_ui_port", "metrics_port", "temporal_metrics_port")
        self._distinct("lifecycle_queue", "retrieval_queue", "projection_queue")
        return self

    @model_validator(mode="after")
    def _sign_in_fits_together(self) -> Self:
        if self.oidc_issuer is not None and self.oidc_audience is None:
            raise ValueError(f"{PREFIX}OIDC_AUDIENCE: needed with {PREFIX}OIDC_ISSUER")
        for name in ("oidc_audience", "oidc_client_id", "oidc_client_secret"):
            if self.oidc_issuer is None and getattr(self, name) is not None:
                raise ValueError(f"{PREFIX}OIDC_ISSUER: needed with {PREFIX}{name.upper()}")
        if self.oidc_client_secret is not None and self.oidc_client_id is None:
            raise ValueError(f"{PREFIX}OIDC_CLIENT_ID: needed with {PREFIX}OIDC_CLIENT_SECRET")
        if self.oidc_client_id is not None and self.public_url is None and not is_loopback(self.http_host):
            raise ValueError(f"{PREFIX}PUBLIC_URL: needed with {PREFIX}OIDC_CLIENT_ID, where the issuer comes back to")
        if self.oidc_client_id is not None and self.oidc_client_id == self.oidc_audience:
            # A token that only tells a browser's sign-in who somebody is must not open the API.
            raise ValueError(f"{PREFIX}OIDC_AUDIENCE: another one than {PREFIX}OIDC_CLIENT_ID")
        if self.development_issuer:
            self._development_only()
        return self

    def _development_only(self) -> None:
        """Refuse an issuer that asks for no proof wherever somebody else could reach it."""
        variable = f"{PREFIX}DEVELOPMENT_ISSUER"
        if self.oidc_issuer is not None:
            raise ValueError(f"{variable}: not together with {PREFIX}OIDC_ISSUER")
        if not self.is_database_embedded:
            raise ValueError(f"{variable}: for the embedded database only, not with {PREFIX}DATABASE_URL")
        if not is_loopback(self.http_host):
            raise ValueError(f"{variable}: only with {PREFIX}HTTP_HOST on this machine, such as 127.0.0.1")
        if not is_loopback(urlsplit(self.browsed_url).hostname or ""):
            raise ValueError(f"{variable}: only with {PREFIX}PUBLIC_URL on this machine, or without it")

    def _distinct(self, *names: str) -> None:
        taken: dict[object, str] = {}
        for name in names:
            value = getattr(self, name)
            if value is not None and value in taken:
                raise ValueError(f"{PREFIX}{name.upper()}: the same as {PREFIX}{taken[value].upper()} ({value})")
            taken[value] = name

    @property
    def browsed_url(self) -> str:
        """What browsers have in their address bar, without a path."""
        return self.public_url or f"http://{self.http_host}:{self.http_port}"

    @property
    def is_database_embedded(self) -> bool:
        """Whether this process starts its own PostgreSQL."""
        return self.database_url is None

    @property
    def is_temporal_embedded(self) -> bool:
        """Whether this process starts its own Temporal server."""
        return self.temporal_address is None

    @property
    def is_index_embedded(self) -> bool:
        """Whether the search index lives in this process."""
        return self.qdrant_url is None

    @property
    def is_embedded(self) -> bool:
        """Whether anything keeps its data in `data_dir`, which then has one owner process."""
        return self.is_database_embedded or self.is_temporal_embedded or self.is_index_embedded


def load_settings(**overrides: Any) -> Settings:
    """Return the settings from the environment, `overrides` first.

    Raises:
        InvalidField: A value breaks its rule; `field` is the environment variable.
    """
    try:
        return Settings(**overrides)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        reason = str(first["msg"]).removeprefix("Value error, ")
        if first["loc"]:
            variable = PREFIX + str(first["loc"][0]).upper()
        else:  # a rule over several settings: its text begins with the one to change
            variable, reason = reason.split(": ", 1)
        raise InvalidField(f"{variable} can't be used.", field=variable, accepted=reason) from None
    except SettingsError as error:
        raise InvalidField(f"The environment can't be read: {error}", field=PREFIX + "*") from None
