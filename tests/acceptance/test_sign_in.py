"""Sign-in on the embedded runtime: the development issuer, its keys over restarts, and that it is off by default."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from deploy.administrator_key import administrator_key
from deploy.bootstrap import ADMINISTRATOR
from deploy.embedded.development_issuer import PATH
from deploy.runtime import running
from tests.acceptance.office import settings_in

pytestmark = pytest.mark.timeout(240)


async def access_token(http: httpx.AsyncClient, address: str, subject: str) -> str:
    """Sign in as the pages do, and return the bearer token that comes with it."""
    form = {"Origin": address, "Sec-Fetch-Site": "same-origin"}
    verifier = "v" * 64
    sent = await http.get("/sign-in/oidc?next=/cases")
    asked = {name: values[0] for name, values in parse_qs(urlsplit(sent.headers["location"]).query).items()}
    back = await http.post(f"{PATH}/authorize", data={**asked, "subject": subject}, headers=form)
    landed = await http.get(back.headers["location"])
    assert (landed.status_code, landed.headers["location"]) == (303, "/cases")
    assert (await http.get("/cases")).status_code == 200

    # A program that may ask the issuer gets a token of its own.
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    again = await http.post(
        f"{PATH}/authorize", data={**asked, "subject": subject, "code_challenge": challenge}, headers=form
    )
    code = parse_qs(urlsplit(again.headers["location"]).query)["code"][0]
    redeemed = await http.post(
        f"{PATH}/token",
        data={"code": code, "code_verifier": verifier, "client_id": asked["client_id"],
              "redirect_uri": asked["redirect_uri"]},
    )  # fmt: skip
    return redeemed.json()["access_token"]


async def status(http: httpx.AsyncClient, token: str) -> int:
    return (await http.get("/v1/keys", headers={"Authorization": f"Bearer {token}"})).status_code


async def test_a_person_signs_in_and_tokens_outlive_one_restart(folder: Path) -> None:
    settings = settings_in(folder, development_issuer=True)
    tokens: list[str] = []
    for _ in range(2):
        async with running(settings) as runtime:
            address = runtime.addresses.http
            async with httpx.AsyncClient(base_url=address, timeout=30) as http:
                for token in tokens:
                    assert await status(http, token) == 200, "the key of the start before is still published"
                tokens.append(await access_token(http, address, ADMINISTRATOR))
                assert await status(http, tokens[-1]) == 200
    plain = settings.model_copy(update={"development_issuer": False})
    async with running(plain) as runtime, httpx.AsyncClient(base_url=runtime.addresses.http, timeout=30) as http:
        assert (await http.get(f"{PATH}/.well-known/openid-configuration")).status_code == 404
        assert await status(http, tokens[-1]) == 401
        page = await http.get("/sign-in")
        assert re.search(r"/sign-in/oidc", page.text) is None
        assert await status(http, administrator_key(plain.data_dir) or "") == 200
