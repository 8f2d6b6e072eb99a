"""Files of the envelope `hard-input/1`: deliveries as sources sent them, and checks on what became of them."""

from __future__ import annotations

import base64
import json
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ENVELOPE = "hard-input/1"
SENT = {"revision", "delivery_id", "occurred_at", "received_at", "subject", "body", "body_format", "state"}
ORIGIN = {"tenant", "source", "external_id"}
NOT_CONTENT = {"custom", "body_generator", "raw"}
"""`raw` is the byte form of the same content: a source's adapter has read it, and passes on what it says."""
FACTS = ("product", "system", "environment", "version")


@dataclass(frozen=True)
class HardFile:
    """One file of hard input."""

    name: str
    deliveries: list[dict[str, Any]]
    checks: list[dict[str, Any]]
    steps: list[dict[str, Any]]
    also: dict[str, Any]

    def named(self, value: Any) -> Any:
        """Return a check's value, looked up where it names another part of the file (`also.mask`)."""
        if isinstance(value, str) and value.startswith("also."):
            return self.also[value.removeprefix("also.")]
        return value


def read_file(path: Path) -> HardFile:
    """Return a file of the envelope.

    Raises:
        ValueError: It isn't one.
    """
    content = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(content, dict) or content.get("envelope") != ENVELOPE:
        raise ValueError(f"{path.name} is not of the envelope {ENVELOPE}")
    return HardFile(
        name=path.name,
        deliveries=content.get("deliveries", []),
        checks=content.get("checks", []),
        steps=content.get("steps", []),
        also=content.get("also", {}),
    )


def posted(delivery: dict[str, Any]) -> dict[str, Any]:
    """Return a delivery as an adapter of its source posts it: known fields by name, everything else as attributes.

    The tenant is the caller's own, whatever a body claims.
    """
    custom = delivery.get("custom", {})
    facts = {name: custom[name] for name in FACTS if isinstance(custom.get(name), str)}
    further = {key: value for key, value in delivery.items() if key not in SENT | ORIGIN | NOT_CONTENT}
    return {
        **{key: value for key, value in delivery.items() if key in SENT},
        "origin": {
            "tenant_id": delivery["tenant"],
            "source": delivery["source"],
            "external_id": delivery["external_id"],
        },
        "body": generated(delivery["body_generator"]) if "body_generator" in delivery else delivery["body"],
        "attributes": {**custom, **further},
        "facts": facts or None,
    }


def generated(rule: dict[str, Any]) -> str:
    """Return the body that a generator rule of the envelope describes."""
    size = rule["bytes"]
    match rule["kind"]:
        case "unique_tokens":
            words, written, number = [rule.get("prefix", "")], len(rule.get("prefix", "")), 0
            while written < size:
                words.append(f"{_base36(number)} ")
                written += len(words[-1])
                number += 1
            return "".join(words) + rule.get("needle_at_end", "")
        case "base64_line":
            return base64.b64encode(random.Random(1).randbytes(size * 3 // 4)).decode()[:size]
        case "repeat":
            unit = rule["unit"]
            return (unit * (size // len(unit) + 1))[:size]
        case other:
            raise ValueError(f"unknown body generator {other!r}")


def _base36(number: int) -> str:
    digits = "0123456789abcdefghijklmnopqrstuvwxyz"
    text = ""
    while True:
        number, rest = divmod(number, 36)
        text = digits[rest] + text
        if not number:
            return text
