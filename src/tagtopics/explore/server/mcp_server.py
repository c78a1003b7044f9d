"""A model as a server of the Model Context Protocol, on standard input and output or on a port."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from functools import partial
from typing import Any

import anyio
from fastapi import HTTPException
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)
from pydantic import TypeAdapter, ValidationError, validate_call
from starlette.types import ASGIApp

from tagtopics.errors import InputError, one_line
from tagtopics.explore.server.middleware import Gate, Limits, TokenGuard
from tagtopics.explore.server.tools import Tools

_READ_ONLY = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)


def mcp_server(tools: Tools, title: str, limits: Limits) -> Server:
    """Return a server with the tools of a model; what is wrong with a call is told to the agent."""
    questions: dict[str, Any] = {function.__name__: validate_call(function) for function in tools.all()}
    gate = Gate(limits)

    async def list_tools(_: ServerRequestContext, __: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(
            tools=[
                Tool(
                    name=name,
                    description=inspect.getdoc(function),
                    input_schema=TypeAdapter(function).json_schema(),
                    annotations=_READ_ONLY,
                )
                for name, function in questions.items()
            ]
        )

    async def call_tool(_: ServerRequestContext, params: CallToolRequestParams) -> CallToolResult:
        try:
            if params.name not in questions:
                raise InputError(f"no tool {params.name[:60]!r}; the tools are {', '.join(questions)}")
            ask = partial(questions[params.name], **(params.arguments or {}))
            text, failed = await gate.run(ask), False
        except (InputError, ValidationError, HTTPException) as error:
            told = error.detail if isinstance(error, HTTPException) else one_line(error)
            text, failed = f"error: {told}", True
        return CallToolResult(content=[TextContent(type="text", text=text)], is_error=failed)

    about = f"Topics and tags of {title[:200]}. All tools only read. Names that end with … are cut."
    return Server("tagtopics", instructions=about, on_list_tools=list_tools, on_call_tool=call_tool)


def run_stdio(server: Server) -> None:
    """Answer on standard input and output until the input ends."""

    async def answer() -> None:
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())

    anyio.run(answer)


def http_app(server: Server, hosts: Sequence[str], token: str | None, limits: Limits) -> ASGIApp:
    """Return a server as an ASGI application at `/mcp`.

    Args:
        server: the server.
        hosts: host names that requests may ask for, and pages may come from; others are refused.
        token: that requests must have as `Authorization: Bearer TOKEN`.
        limits: on the size of requests.
    """
    names = [name for host in hosts for name in (host, f"{host}:*")]
    origins = [f"{scheme}://{name}" for scheme in ("http", "https") for name in names]
    security = TransportSecuritySettings(allowed_hosts=names, allowed_origins=origins)
    app = server.streamable_http_app(
        json_response=True,
        stateless_http=True,
        max_request_body_size=limits.body_bytes,
        transport_security=security,
    )
    return app if token is None else TokenGuard(app, token)
