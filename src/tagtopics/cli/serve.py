"""`tagtopics serve`: the explorer with a workbench for new documents, and a JSON API."""

from __future__ import annotations

from typing import Annotated

import typer

from tagtopics.cli.options import ModelArgument, OutputOptions
from tagtopics.cli.output import console, plain
from tagtopics.cli.report import CorpusOption, TitleOption, load_with_data
from tagtopics.errors import MissingExtraError

HostOption = Annotated[
    str, typer.Option(metavar="ADDRESS", help="Address to listen on; use 0.0.0.0 to allow remote access.")
]
PortOption = Annotated[int, typer.Option(metavar="N", min=0, max=65535, help="Port; 0 for any free port.")]
WorkersOption = Annotated[
    int, typer.Option(metavar="N", min=1, max=64, help="Requests computed at the same time.")
]
QueueOption = Annotated[
    int, typer.Option(metavar="N", min=0, max=10_000, help="Requests that may wait; others get status 503.")
]
SecondsOption = Annotated[
    float, typer.Option("--timeout", metavar="SECONDS", min=0.1, help="Maximum time for one answer.")
]


def command(
    model: ModelArgument,
    output: OutputOptions,
    corpus: CorpusOption = None,
    title: TitleOption = None,
    host: HostOption = "127.0.0.1",
    port: PortOption = 8000,
    workers: WorkersOption = 2,
    queue: QueueOption = 32,
    timeout: SecondsOption = 30.0,
) -> None:
    """Serve a model: its pages, a workbench for new texts, and a JSON API under /api/v1."""
    try:
        from tagtopics.explore.listener import allowed_hosts, bind, make_server
        from tagtopics.explore.server import Limits, create_app
    except ImportError:
        raise MissingExtraError("serve", "serve") from None
    from tagtopics.views.engine import ModelEngine

    listening = bind(host, port)
    loaded, data = load_with_data(model, corpus, title, output)
    limits = Limits(workers=workers, queue=queue, seconds=timeout)
    app = create_app(data, ModelEngine(loaded), limits, allowed_hosts(host))
    if not output.quiet:
        name = f"[{host}]" if ":" in host else host
        address = f"http://{name}:{listening.getsockname()[1]}/"
        console().print(plain(f"Serving {data.title} at {address}"), soft_wrap=True)
        console().print(plain("Press Ctrl-C to stop.", "dim"))
    make_server(app, limits).run(sockets=[listening])
