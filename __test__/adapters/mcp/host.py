"""A host of the Python SDK: calls each hostile line's server through the proxy, and prints how much it was handed."""

import asyncio
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main(node: str, cli: str, server: str, store: str, lines: list[str]) -> None:
    for line in lines:
        args = [cli, "mcp", "--store", store, "--", node, server, line]
        handed = 0

        async def heard(message):
            nonlocal handed
            if isinstance(message, Exception):
                handed += len(str(message))

        async with stdio_client(StdioServerParameters(command=node, args=args)) as (read, write):
            async with ClientSession(read, write, message_handler=heard) as session:
                await session.initialize()
                try:
                    answer = await asyncio.wait_for(session.call_tool("x", {}), 6)
                    handed += len(answer.model_dump_json())
                except TimeoutError:
                    handed = -1
                except Exception as error:
                    handed += len(str(error))
        print(handed, flush=True)


asyncio.run(main(*sys.argv[1:5], sys.argv[5:]))
