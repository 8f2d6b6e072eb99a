"""One process that delivers again and again: `python -m tests.acceptance.hammering`.

The first line of standard input is the address and key, each further line a delivery. Every answer is a line of
output, so that whoever kills this process knows how far it came.
"""

from __future__ import annotations

import asyncio
import json
import sys

from api.client import CaseloreClient
from contracts.cases import Delivery

SIDE_BY_SIDE = 3


async def hammer() -> None:
    """Deliver every line of the input, several at once, and print the receipts."""
    given = json.loads(sys.stdin.readline())
    deliveries = iter([Delivery.model_validate_json(line) for line in sys.stdin])
    async with CaseloreClient(given["http"], given["key"], retries=6) as client:

        async def one() -> None:
            for delivery in deliveries:
                receipt = await client.deliver(delivery)
                print(receipt.model_dump_json(), flush=True)

        async with asyncio.TaskGroup() as group:
            for _ in range(SIDE_BY_SIDE):
                group.create_task(one())


if __name__ == "__main__":
    asyncio.run(hammer())
