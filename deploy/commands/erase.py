"""`caselore erase`: a case or a subject removed from every store, with a receipt (R11)."""

from __future__ import annotations

import asyncio
import sys
import uuid
from pathlib import Path

from contracts.erasure import ErasureReceipt, ErasureRequest, ErasureState, ErasureTarget
from contracts.errors import RuntimeUnavailable
from deploy.commands.attach import attached
from deploy.commands.progress import console, say
from deploy.settings import Settings

_LOOK_EVERY = 1.0


async def erase(
    settings: Settings,
    target: ErasureTarget,
    reason: str,
    *,
    erasure_id: str | None = None,
    at_most: int | None = None,
    is_preview: bool = False,
    json_file: Path | None = None,
) -> None:
    """Erase, wait for the end and print the receipt as JSON.

    Raises:
        RuntimeUnavailable: It has ended with something left; the receipt says what.
    """
    async with attached(settings, progress=say) as caselore:
        if is_preview:
            _print((await caselore.admin.preview_erasure(target)).model_dump_json(indent=1), json_file)
            return
        request = ErasureRequest(
            **target.model_dump(), erasure_id=erasure_id or str(uuid.uuid4()), reason=reason, at_most=at_most
        )
        say(f"erasure {request.erasure_id}")
        receipt = await caselore.admin.erase(request, wait=20)
        while receipt.state is ErasureState.RUNNING:
            await asyncio.sleep(_LOOK_EVERY)
            receipt = await caselore.admin.get_erasure(request.erasure_id)
        _print(receipt.model_dump_json(indent=1), json_file)
        _require_done(receipt)


def subject_values(file: Path | None) -> tuple[str, ...]:
    """Return the values in a file, one a line; `-` reads standard input, so that none stands in a command's history."""
    if file is None:
        return ()
    text = sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")
    return tuple(line.strip() for line in text.splitlines() if line.strip())


def _require_done(receipt: ErasureReceipt) -> None:
    if receipt.state is not ErasureState.DONE:
        raise RuntimeUnavailable(
            f"The erasure needs a person: {receipt.why}.", field="erasure_id", accepted="the same order again"
        )


def _print(text: str, json_file: Path | None) -> None:
    console.print(text, markup=False, highlight=False, soft_wrap=True)
    if json_file is not None:
        json_file.write_text(f"{text}\n", encoding="utf-8")
