"""A token that requests to the server must have, and the page that documents the API."""

from __future__ import annotations

import base64
import binascii
import hmac
import json
from collections.abc import MutableMapping
from html import escape
from typing import Any

from tagtopics.explore.server.middleware import Application, Receive, Send

OPEN = ("/health", "/ready")
"""Paths that need no token, for those who watch the server."""


class TokenGuard:
    """Wraps an ASGI application: requests without the token get status 401.

    The token is sent as `Authorization: Bearer TOKEN`, or as the password of HTTP basic authentication, which
    browsers ask for; the user name does not matter.
    """

    def __init__(self, app: Application, token: str) -> None:
        self._app, self._token = app, token.encode()

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http" or scope["path"] in OPEN or self._allows(dict(scope["headers"])):
            await self._app(scope, receive, send)
            return
        body = json.dumps({"detail": "this server needs a token: Authorization: Bearer TOKEN"}).encode()
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            (b"www-authenticate", b'Basic realm="tagtopics"'),
        ]
        await send({"type": "http.response.start", "status": 401, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def _allows(self, headers: dict[bytes, bytes]) -> bool:
        given = given_token(headers)
        return given is not None and hmac.compare_digest(given, self._token)


def given_token(headers: dict[bytes, bytes]) -> bytes | None:
    """Return the token of a request, or None."""
    scheme, _, given = headers.get(b"authorization", b"").partition(b" ")
    if scheme.lower() == b"basic":
        try:
            given = base64.b64decode(given, validate=True).partition(b":")[2]
        except binascii.Error:
            return None
    elif scheme.lower() != b"bearer":
        return None
    return given.strip()


def api_page(schema: dict[str, Any]) -> str:
    """Return a page that lists the routes of an OpenAPI schema; it loads nothing from elsewhere."""
    rows = []
    for path, methods in schema["paths"].items():
        for method, route in methods.items():
            inputs = [f"{one['name']}" for one in route.get("parameters", [])]
            content = route.get("requestBody", {}).get("content", {})
            inputs += [
                str(one.get("schema", {}).get("$ref", kind)).rsplit("/", 1)[-1]
                for kind, one in content.items()
            ]
            cells = (method.upper(), path, route.get("description", ""), ", ".join(inputs))
            rows.append("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>")
    head = "".join(f"<th>{name}</th>" for name in ("Method", "Path", "What it does", "Input"))
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>API · tagtopics</title>'
        '<meta name="viewport" content="width=device-width">'
        '<link rel="stylesheet" href="static/explorer.css"></head><body><main><h1>API</h1>'
        '<p>The full schema, with all fields, is <a href="openapi.json">openapi.json</a>.</p>'
        f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></main></body></html>"
    )
