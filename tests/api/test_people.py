"""People by tokens of an issuer: what is checked of them, and that nothing else they say counts (R4, R13)."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import AsyncIterator
from typing import Any

import httpx
import jwt
import pytest
import pytest_asyncio
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from activities.issuer import documents
from api.client import CaseloreClient
from contracts.errors import (
    IdempotencyConflict,
    InvalidField,
    NotAuthenticated,
    UnknownIdentity,
    UnknownPrincipal,
)
from contracts.identity import Principal
from contracts.labels import PrincipalKind
from contracts.sign_in import IdentityLink, PersonIdentity
from tests.api.issuer_world import People, people_at
from tests.api.made_up_issuer import AUDIENCE, ISSUER, token_of
from tests.api.world import World, fresh


@pytest_asyncio.fixture(scope="module")
async def people(world: World, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[People]:
    async with people_at(world, tmp_path_factory.mktemp("issuer")) as found:
        yield found


async def test_a_linked_person_calls_with_a_token(people: People) -> None:
    await people.link("admin", "00u-admin")
    token = people.development.token("00u-admin")
    people.clock.now += documents.FRESH + 1
    people.fetched.clear()
    assert (await people.get(token)).status_code == 200
    assert (await people.get(token, "/v1/keys")).status_code == 200
    assert people.fetched == ["/.well-known/openid-configuration", "/keys"], "fetched once, for all requests"


async def test_somebody_who_is_not_linked_is_told_what_to_do(people: People) -> None:
    response = await people.get(people.development.token("00u-new"))
    assert (response.status_code, response.json()["type"]) == (401, "urn:caselore:error:UnknownIdentity")
    assert "'00u-new'" in response.json()["accepted"]
    await people.link("cora", "00u-new")
    assert (await people.get(people.development.token("00u-new"))).status_code == 200


async def test_a_removed_link_and_an_inactive_principal_sign_nobody_in(people: People) -> None:
    name = f"person-{fresh()}"
    person = Principal(id=name, kind=PrincipalKind.PERSON, name="Robin")
    await people.world.services.identities.add_principal(person)
    link = await people.link(name)
    token = people.development.token(name)
    assert (await people.get(token)).status_code == 200
    async with people.world.caller("admin") as admin:
        await admin.set_active(person, active=False)
        assert (await people.get(token)).status_code == 401
        await admin.set_active(person, active=True)
        assert (await people.get(token)).status_code == 200
        assert (await admin.unlink_identity(link)).removed == 1
        assert (await admin.unlink_identity(link)).removed == 0
    assert (await people.get(token)).json()["type"] == "urn:caselore:error:UnknownIdentity"


async def test_r13_roles_names_and_addresses_in_a_token_count_for_nothing(people: People) -> None:
    await people.link("cora")
    claims: dict[str, Any] = {
        "roles": ["administrator"], "groups": ["admins"], "administrator": True, "scope": "administer",
        "email": "admin@example.org", "preferred_username": "admin", "name": "admin", "abilities": ["administer"],
        "principal_id": "admin",
    }  # fmt: skip
    response = await people.get(people.development.token("cora", **claims), "/v1/keys")
    assert response.status_code == 403
    for subject in ("CORA", "cora ", "c\u03bfra"):
        assert (await people.get(people.development.token(subject))).status_code == 401


@pytest.mark.parametrize(
    "claims",
    [
        {"aud": "another-service"},
        {"aud": []},
        {"aud": None},
        {"aud": "caselore-pages"},  # a token that only tells a browser's sign-in who somebody is
        {"iss": "http://127.0.0.1:1/development-issuer"},
        {"iss": None},
        {"exp": 1_000_000_000},
        {"exp": "never"},
        {"exp": None},
        {"nbf": 4_000_000_000},
        {"iat": 4_000_000_000},
        {"sub": None},
        {"sub": ""},
        {"sub": 7},
        {"sub": "a" * 1_001},
        {"sub": "a\x00"},
    ],
)
async def test_a_token_that_is_not_for_us_now_is_refused(people: People, claims: dict[str, Any]) -> None:
    await people.link("cora")
    assert (await people.get(people.development.token("cora"))).status_code == 200
    audience = claims.pop("aud", AUDIENCE)
    token = people.development.token("cora", audience, **claims)
    response = await people.get(token)
    assert (response.status_code, response.json()["type"]) == (401, "urn:caselore:error:NotAuthenticated")
    assert response.headers["www-authenticate"].startswith("Bearer")
    assert token not in response.text


async def test_clocks_may_differ_a_little(people: People) -> None:
    await people.link("cora")
    now = int(time.time())
    good: list[dict[str, Any]] = [{"exp": now - 10}, {"nbf": now + 10}]
    bad: list[dict[str, Any]] = [{"exp": now - 60}, {"nbf": now + 60}]
    for claims in good:
        assert (await people.get(people.development.token("cora", **claims))).status_code == 200
    for claims in bad:
        assert (await people.get(people.development.token("cora", **claims))).status_code == 401


async def test_only_the_issuers_own_signatures_count(people: People) -> None:
    """None, a shared secret, the public key as a secret, a stranger's key, another algorithm, a changed text."""
    await people.link("cora")
    key_id, key = people.development.keys.current
    good = people.development.token("cora")
    claims = jwt.decode(good, options={"verify_signature": False})
    public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    stranger = ec.generate_private_key(ec.SECP256R1())

    def by_hand(header: dict[str, Any], secret: bytes) -> str:
        import hashlib
        import hmac

        parts = [base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=") for part in (header, claims)]
        signature = hmac.new(secret, b".".join(parts), hashlib.sha256).digest()
        return b".".join([*parts, base64.urlsafe_b64encode(signature).rstrip(b"=")]).decode()

    head, body, signature = good.split(".")
    changed = base64.urlsafe_b64encode(json.dumps({**claims, "sub": "admin"}).encode()).rstrip(b"=").decode()
    unsigned = jwt.encode(claims, "", algorithm="none", headers={"kid": key_id})
    bad = [
        unsigned,
        unsigned + signature,
        by_hand({"alg": "HS256", "kid": key_id, "typ": "JWT"}, public),
        by_hand({"alg": "ES256", "kid": key_id, "typ": "JWT"}, public),
        by_hand({"alg": "HS256", "typ": "JWT", "jwk": {"kty": "oct", "k": "AAAA"}}, b"\x00\x00\x00"),
        jwt.encode(claims, stranger, algorithm="ES256", headers={"kid": key_id}),
        jwt.encode(claims, stranger, algorithm="ES256", headers={"kid": "strange", "jku": "https://evil.example/keys"}),
        jwt.encode(claims, rsa.generate_private_key(65537, 2048), algorithm="RS256", headers={"kid": key_id}),
        f"{head}.{changed}.{signature}",
        f"{head}.{body}.",
        f"{head}.{body}.{signature[:-4]}AAAA",
        "eyJ.eyJ.x",
        "eyJhbGciOiJFUzI1NiJ9." + "a" * 20_000 + ".a",
    ]
    for token in bad:
        response = await people.get(token)
        assert (response.status_code, response.json()["type"]) == (401, "urn:caselore:error:NotAuthenticated"), token
    assert (await people.get(good)).status_code == 200


async def test_keys_rotate(people: People) -> None:
    """A new key is found by its first token; the one before stays good until the issuer withdraws it."""
    await people.link("cora")
    old = people.development.token("cora")
    assert (await people.get(old)).status_code == 200
    people.development.keys.rotate()
    new = people.development.token("cora")
    people.clock.now += documents.COOL_DOWN + 1
    assert (await people.get(new)).status_code == 200
    assert (await people.get(old)).status_code == 200

    people.development.keys.rotate()  # the issuer publishes two: the first is withdrawn
    assert (await people.get(old)).status_code == 200, "for a while, keys are taken as they were fetched"
    people.clock.now += documents.FRESH + 1
    assert (await people.get(old)).status_code == 401
    assert (await people.get(new)).status_code == 200
    assert (await people.get(people.development.token("cora"))).status_code == 200


async def test_invented_key_ids_do_not_make_us_ask_the_issuer_each_time(people: People) -> None:
    await people.link("cora")
    stranger = ec.generate_private_key(ec.SECP256R1())
    assert (await people.get(people.development.token("cora"))).status_code == 200
    asked = len(people.fetched)
    people.clock.now += documents.COOL_DOWN + 1
    for number in range(20):
        token = jwt.encode({"sub": "cora"}, stranger, algorithm="ES256", headers={"kid": f"invented-{number}"})
        assert (await people.get(token)).status_code == 401
    assert len(people.fetched) == asked + 2, "one look at the document and its keys"


async def test_without_an_issuer_a_token_is_no_credential(world: World) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    response = await world.send(
        "GET", "/v1/watermarks", as_=None, headers={"Authorization": f"Bearer {token_of(key, 'ES256')}"}
    )
    assert (response.status_code, response.json()["accepted"]) == (401, "an API key")


async def test_links_are_made_by_administrators_once_and_of_people(world: World) -> None:
    link = IdentityLink(issuer=ISSUER, subject=fresh(), principal_id="cora")
    async with world.caller("admin") as admin:
        first = await admin.link_identity(link)
        assert (first.principal_id, first.linked_by) == ("cora", "admin")
        assert await admin.link_identity(link) == first
        assert first in await admin.identities("cora")
        with pytest.raises(IdempotencyConflict):
            await admin.link_identity(link.model_copy(update={"principal_id": "otto"}))
        with pytest.raises(InvalidField):
            await admin.link_identity(link.model_copy(update={"subject": fresh(), "principal_id": "agent"}))
        with pytest.raises(UnknownPrincipal):
            await admin.link_identity(link.model_copy(update={"principal_id": "nobody at all"}))
        rows = await admin.audit(subject="principal/cora")
    found = [row for row in rows if row.action == "identity"]
    assert found and found[-1].actor_id == "admin"
    assert link.subject not in json.dumps([row.model_dump(mode="json") for row in rows]), "the chain keeps no subject"
    with pytest.raises(UnknownIdentity):
        await world.services.sign_in.people.sign_in(PersonIdentity(issuer=ISSUER.rstrip("/"), subject=link.subject))


async def test_the_client_takes_a_provider_of_tokens(people: People) -> None:
    """It asks for another token when one isn't taken any more, and then sends the same request again."""
    await people.link("cora")
    good, spent = people.development.token("cora"), people.development.token("cora", exp=1_000_000_000)
    asked: list[bool] = []

    async def provider(renew: bool) -> str:
        asked.append(renew)
        return good if renew else spent

    async with CaseloreClient("http://caselore", provider, transport=httpx.ASGITransport(app=people.app)) as client:
        assert await client.watermarks()
        assert asked == [False, True]

    async def never(renew: bool) -> str:
        asked.append(renew)
        return "clk_unknown"

    asked.clear()
    async with CaseloreClient("http://caselore", never, transport=httpx.ASGITransport(app=people.app)) as client:
        with pytest.raises(NotAuthenticated):
            await client.watermarks()
        assert asked == [False, True]
