"""`tagtopics serve`: the explorer, live, with a workbench and a JSON interface."""

from __future__ import annotations

import ipaddress
import socket
from typing import Annotated

import typer

from tagtopics.cli.options import ModelArgument, Shown
from tagtopics.cli.output import console, plain
from tagtopics.cli.report import CorpusOption, TitleOption, shown_data
from tagtopics.errors import InputError, MissingExtraError

HostOption = Annotated[
    str, typer.Option(metavar="ADDRESS", help="Where to listen. Other machines can only reach it if told.")
]
PortOption = Annotated[int, typer.Option(metavar="N", min=0, max=65535, help="Port; 0 for any free one.")]
WorkersOption = Annotated[int, typer.Option(metavar="N", min=1, max=64, help="Questions answered at once.")]
QueueOption = Annotated[
    int, typer.Option(metavar="N", min=0, max=10_000, help="Questions that may wait; more get 503.")
]
SecondsOption = Annotated[
    float, typer.Option("--timeout", metavar="SECONDS", min=0.1, help="Longest time for one answer.")
]


def command(
    model: ModelArgument,
    shown: Shown,
    corpus: CorpusOption = None,
    title: TitleOption = None,
    host: HostOption = "127.0.0.1",
    port: PortOption = 8000,
    workers: WorkersOption = 2,
    queue: QueueOption = 32,
    timeout: SecondsOption = 30.0,
) -> None:
    """Serve a model: its pages, a workbench for new texts, and a JSON interface under /api/v1."""
    try:
        import uvicorn

        from tagtopics.explore.server import Limits, create_app
    except ImportError:
        raise MissingExtraError("serve", "serve") from None
    from tagtopics.cli.reading import load
    from tagtopics.views.engine import ModelEngine

    data = shown_data(model, corpus, title, shown)
    limits = Limits(workers=workers, queue=queue, seconds=timeout)
    app = create_app(data, ModelEngine(load(model)), limits, allowed_hosts(host))
    settings = uvicorn.Config(
        app,
        host=host,
        port=port,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_keep_alive=10,
        timeout_graceful_shutdown=10,
        limit_concurrency=max(256, 8 * (workers + queue)),
    )
    server = uvicorn.Server(settings)
    listening = _bound(host, port)
    if not shown.quiet:
        name = f"[{host}]" if ":" in host else host
        console().print(
            plain(f"Serving {data.title} at http://{name}:{listening.getsockname()[1]}/"), soft_wrap=True
        )
        console().print(plain("Stop with Ctrl-C.", "dim"))
    server.run(sockets=[listening])


def allowed_hosts(host: str) -> frozenset[str] | None:
    """Return the names that a server on an address answers under: this machine's own, or any if told so."""
    try:
        local = ipaddress.ip_address(host).is_loopback
    except ValueError:
        local = host == "localhost"
    return frozenset({"localhost", "127.0.0.1", "[::1]", host.lower()}) if local else None


def _bound(host: str, port: int) -> socket.socket:
    """Return a socket that listens on an address; what stands in the way is the user's to know."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=512)
    except OSError as error:
        raise InputError(
            f"cannot listen on {host} port {port}: {error.strerror or error}; choose another --port"
        ) from None
