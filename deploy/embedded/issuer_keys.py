"""Signing keys of the development issuer: a new one at every start, the one before still good."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from jwt.algorithms import ECAlgorithm

KEPT = 2
"""Keys that are published: the newest one signs."""
ALGORITHM = "ES256"


class IssuerKeys:
    """Keys in a folder that only their owner reads.

    Args:
        folder: Made when it is missing.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._keys = {file.stem: _load(file) for file in sorted(folder.glob("*.pem"))}
        if not self._keys:
            self.rotate()

    @property
    def current(self) -> tuple[str, ec.EllipticCurvePrivateKey]:
        """The id and key that sign now."""
        return list(self._keys.items())[-1]

    def rotate(self) -> str:
        """Make a new key the signing one, withdraw all but the one before, and return the new one's id."""
        number = 1 + max((int(key_id.partition("-")[0]) for key_id in self._keys), default=0)
        key_id = f"{number:06}-{secrets.token_hex(4)}"
        key = ec.generate_private_key(ec.SECP256R1())
        content = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        file = self._folder / f"{key_id}.pem"
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
            stream.write(content)
        self._keys[key_id] = key
        for old in list(self._keys)[:-KEPT]:
            self.withdraw(old)
        return key_id

    def withdraw(self, key_id: str) -> None:
        """Publish a key no more; the signing one can't be withdrawn."""
        if key_id != self.current[0] and self._keys.pop(key_id, None) is not None:
            (self._folder / f"{key_id}.pem").unlink(missing_ok=True)

    def published(self) -> dict[str, Any]:
        """Return the key set as the issuer publishes it."""
        return {
            "keys": [
                {
                    **ECAlgorithm.to_jwk(key.public_key(), as_dict=True),
                    "kid": key_id,
                    "use": "sig",
                    "alg": ALGORITHM,
                }
                for key_id, key in self._keys.items()
            ]
        }


def _load(file: Path) -> ec.EllipticCurvePrivateKey:
    key = load_pem_private_key(file.read_bytes(), password=None)
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise TypeError(f"{file} holds no key of the development issuer")
    return key
