"""The commands `report`, `serve`, `mcp` and `export`: a model as one HTML file, as a server, for programs."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tagtopics.cli.options import ModelArgument, OutputOptions, flag, option
from tagtopics.cli.output import console, fact_table, note, plain, show, write_notes
from tagtopics.cli.sources import is_path, load, load_named, load_with_documents
from tagtopics.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from uvicorn import Server

    from tagtopics.corpus import Corpus
    from tagtopics.models.base import TopicModel

ReportOption = Annotated[str, option("HTML file to write.", "--out", "-o", metavar="FILE")]
OverwriteOption = Annotated[bool, flag("Replace FILE even if it is not a tagtopics report.", "--overwrite")]
CorpusOption = Annotated[
    str | None,
    option("The documents the model was fitted to: a matrix folder or a data set name.",
           default="the corpus saved with the model", metavar="CORPUS"),
]  # fmt: skip
TitleOption = Annotated[str | None, option("Title of the collection.", default="model name", metavar="TEXT")]
OpenOption = Annotated[bool, flag("Open the report in a browser.", "--open")]
SizeOption = Annotated[float, option("Maximum file size in MB; texts are left out first.", "--max-mb")]
ImagesOption = Annotated[
    str | None, option("Folder of the photos the model was fitted to; the pages show them.", metavar="FOLDER")
]
AuditOption = Annotated[
    str | None,
    option("Add a page to accept or refuse the findings in FILE, the output of `audit --json`.", "--audit",
           metavar="FILE"),
]  # fmt: skip
NamesOption = Annotated[
    str | None,
    option("Names of topics: the JSON that a report exports, or a CSV file with columns topic and name.",
           "--names", default="those of the model", metavar="FILE"),
]  # fmt: skip
AboutOption = Annotated[
    str | None,
    option("Text about the collection, in Markdown: its source, licence, contact.", "--about",
           default="none", metavar="FILE"),
]  # fmt: skip
HostOption = Annotated[
    str, option("Address to listen on; use 0.0.0.0 to allow remote access.", metavar="ADDRESS")
]
PortOption = Annotated[int, option("Port; 0 for any free port.", min=0, max=65535)]
WorkersOption = Annotated[int, option("Requests computed at the same time.", min=1, max=64)]
QueueOption = Annotated[int, option("Requests that may wait; others get status 503.", min=0, max=10_000)]
AllowedOption = Annotated[
    list[str] | None,
    option("Host name that requests may ask for, such as that of a proxy; repeat for several.",
           "--allowed-host", default="this machine", metavar="NAME"),
]  # fmt: skip
ProxiesOption = Annotated[
    str,
    option("Addresses of proxies whose X-Forwarded headers count, separated by commas.",
           "--forwarded-allow-ips", metavar="ADDRESSES"),
]  # fmt: skip
RootOption = Annotated[
    str, option("Path of the server at the proxy, which removes it.", default="none", metavar="PATH")
]
LogOption = Annotated[bool, flag("Print a line for each request.", "--log")]
TokenOption = Annotated[
    str | None,
    option("Token that requests must have, as a bearer token or as the password in a browser.",
           default="TAGTOPICS_TOKEN, else none", metavar="TOKEN"),
]  # fmt: skip
TokenFileOption = Annotated[
    str | None, option("File with the token, which the list of processes does not show.", metavar="FILE")
]
CorsOption = Annotated[
    str | None,
    option("Addresses of web pages that may use the API, separated by commas.",
           default="none", metavar="ORIGINS"),
]  # fmt: skip
SecondsOption = Annotated[
    float, option("Maximum time for one answer.", "--timeout", metavar="SECONDS", min=0.1)
]
HttpOption = Annotated[
    bool, flag("Answer at http://127.0.0.1:PORT/mcp instead of on standard input and output.", "--http")
]
ExportOption = Annotated[
    str, option("Folder (csv, parquet) or file to write.", "--out", "-o", metavar="PATH")
]
FormatOption = Annotated[
    str | None,
    option("csv, parquet, graphml or pyldavis.", "--format", "-f",
           default="graphml if PATH ends so, else csv", metavar="NAME"),
]  # fmt: skip
ReplaceOption = Annotated[bool, flag("Replace an existing file.", "--overwrite")]


def report_command(
    model: ModelArgument,
    output: OutputOptions,
    out: ReportOption = "report.html",
    overwrite: OverwriteOption = False,
    corpus: CorpusOption = None,
    title: TitleOption = None,
    max_mb: SizeOption = 15.0,
    images: ImagesOption = None,
    audit: AuditOption = None,
    open_it: OpenOption = False,
    names: NamesOption = None,
    about: AboutOption = None,
) -> None:
    """Write topics, tags, tag groups and documents to one HTML file that opens without a network."""
    from tagtopics.explore.record.inputs import read_about, read_findings, read_names, with_names
    from tagtopics.explore.record.photographs import with_pictures
    from tagtopics.explore.record.to_topic_data import topic_data
    from tagtopics.explore.report.html_report import ReportOptions, check_report_target, write_report

    check_report_target(out, overwrite=overwrite)
    findings = None if audit is None else read_findings(audit)
    own_names = {} if names is None else read_names(names)
    told = "" if about is None else read_about(about)
    times = [time.perf_counter()]
    loaded, documents = _load_both(model, corpus, output)
    times.append(time.perf_counter())
    data = topic_data(loaded, documents, title or Path(model).resolve().stem)
    data = replace(with_names(data, own_names), about=told)
    if images is not None:
        data = with_pictures(data, loaded, images)
    times.append(time.perf_counter())
    options = ReportOptions(max_mb=max_mb, overwrite=overwrite, offline=loaded, findings=findings)
    size = write_report(data, out, options=options)
    times.append(time.perf_counter())
    seconds = {step: times[i + 1] - times[i] for i, step in enumerate(("load", "record", "render"))}
    left, what = size.n_docs - size.n_bodies, "texts"
    if data.visual:
        left, what = len(data.pictures) - size.n_photos, "photos"
    if data.documents.has_words and left:
        note(f"{left:,} of {size.n_docs:,} {what} were left out to stay below {max_mb:g} MB; raise --max-mb")
    payload = {
        "path": out,
        "bytes": size.n_bytes,
        "n_docs": size.n_docs,
        "n_listed": size.n_listed,
        "n_texts": 0 if data.visual else size.n_bodies,
        "n_photos": size.n_photos,
        "n_topics": data.n_topics,
        "n_tags": len(data.tags.names),
        "seconds": seconds,
    }
    facts = {
        "report": out,
        "size": f"{size.n_bytes / 1e6:.1f} MB",
        "documents": f"{size.n_listed:,} listed, {size.n_bodies:,} with their words",
    }
    if data.visual:
        photos = f"{size.n_photos:,} with their photo, {size.n_heated:,} with heat maps"
        facts["documents"] = f"{size.n_listed:,} listed, {photos}"
    show(output.json, payload, lambda console: console.print(fact_table(facts)))
    if open_it:
        import webbrowser

        if not webbrowser.open(Path(out).resolve().as_uri()):
            note(f"no browser was found: open {out} yourself")


def serve_command(
    model: ModelArgument,
    output: OutputOptions,
    corpus: CorpusOption = None,
    title: TitleOption = None,
    images: ImagesOption = None,
    host: HostOption = "127.0.0.1",
    port: PortOption = 8000,
    workers: WorkersOption = 2,
    queue: QueueOption = 128,
    timeout: SecondsOption = 30.0,
    token: TokenOption = None,
    token_file: TokenFileOption = None,
    cors: CorsOption = None,
    allowed_host: AllowedOption = None,
    forwarded_allow_ips: ProxiesOption = "127.0.0.1",
    root_path: RootOption = "",
    log: LogOption = False,
) -> None:
    """Serve a model: its pages, a workbench for new texts, and a JSON API under /api/v1."""
    from tagtopics.explore.record.photographs import Photographs
    from tagtopics.explore.record.to_topic_data import topic_data

    try:
        from tagtopics.explore.server.engine import ModelEngine
        from tagtopics.explore.server.middleware import Limits
        from tagtopics.explore.server.server import (
            allowed_hosts,
            bind,
            create_server,
            is_local,
            make_server,
        )
    except ImportError:
        raise MissingExtraError("serve", "serve") from None

    token = _read_token(token, token_file)
    origins = [one.strip() for one in (cors or "").split(",") if one.strip()]
    if any("://" not in one for one in origins):
        raise InputError("--cors: give addresses such as https://example.org")
    limits = Limits(workers=workers, queue=queue, seconds=timeout)
    hosts = allowed_hosts(host, allowed_host or ())
    app, served = create_server(limits, hosts, token=token, origins=origins)
    server = make_server(app, limits, proxies=forwarded_allow_ips, root_path=root_path, log=log)
    listening = bind(host, port, limits)

    def load_model() -> str:
        loaded, documents = _load_both(model, corpus, output)
        engine = ModelEngine(loaded)
        engine.warm()
        data = topic_data(loaded, documents, title or Path(model).resolve().stem)
        served.load(data, engine, Photographs(data, loaded, images) if images else None)
        return data.title

    address = f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}/"
    if token is None and not is_local(host):
        note(f"whoever can reach {address} can use the model: give --token-file or set TAGTOPICS_TOKEN")
    _serve(server, listening, load_model, address, quiet=output.quiet)


def mcp_command(
    model: ModelArgument,
    output: OutputOptions,
    http: HttpOption = False,
    port: PortOption = 8000,
    token: TokenOption = None,
    token_file: TokenFileOption = None,
    allowed_host: AllowedOption = None,
) -> None:
    """Answer questions of agents about a model, with the Model Context Protocol; nothing is changed."""
    try:
        from tagtopics.explore.server.mcp_server import http_app, mcp_server, run_stdio
        from tagtopics.explore.server.middleware import Limits
        from tagtopics.explore.server.server import allowed_hosts, bind, make_server
        from tagtopics.explore.server.tools import Tools
    except ImportError:
        raise MissingExtraError("mcp", "mcp") from None

    if not http and (token or token_file or allowed_host):
        raise InputError("mcp: --token, --token-file and --allowed-host need --http")
    if any("*" in name for name in allowed_host or ()):
        raise InputError("--allowed-host: mcp takes whole names only, such as topics.example.org")
    limits, host = Limits(seconds=120.0), "127.0.0.1"  # the first answer may compile kernels
    secret = _read_token(token, token_file) if http else None
    hosts = allowed_hosts(host, allowed_host or ()) or ()
    server = mcp_server(Tools(*load_with_documents(model)), Path(model).resolve().stem, limits)
    if not http:
        return run_stdio(server)
    listening = bind(host, port, limits)
    if not output.quiet:
        address = f"http://{host}:{listening.getsockname()[1]}/mcp"
        console().print(plain(f"Serving {model} at {address}"), soft_wrap=True)
    make_server(http_app(server, hosts, secret, limits), limits).run(sockets=[listening])


def _read_token(given: str | None, file: str | None) -> str | None:
    """Return the token: given, the first line of a file, or `TAGTOPICS_TOKEN`; None without one."""
    import os

    if given is not None and file is not None:
        raise InputError("--token and --token-file: give one of them")
    token, source = os.environ.get("TAGTOPICS_TOKEN"), "TAGTOPICS_TOKEN"
    if given is not None:
        note("all users of this machine can see --token: give --token-file, or set TAGTOPICS_TOKEN")
        token, source = given, "--token"
    elif file is not None:
        token, source = Path(file).read_text("utf-8", "replace").partition("\n")[0], f"--token-file {file}"
    if token is not None and not token.strip():
        raise InputError(f"{source}: the token must not be empty")
    return token and token.strip()


def _serve(
    server: Server, listening: socket.socket, load_model: Callable[[], str], address: str, *, quiet: bool
) -> None:
    """Listen at once and load the model meanwhile; end if it cannot be loaded."""
    import threading

    failures: list[Exception] = []

    def load() -> None:
        try:
            title = load_model()
        except Exception as error:
            failures.append(error)
            server.should_exit = True
            return
        if not quiet:
            write_notes()
            console().print(plain(f"Serving {title} at {address}"), soft_wrap=True)
            console().print(plain("Press Ctrl-C to stop.", "dim"))

    if not quiet:
        note("loading; /ready answers 200 when this is done")
        write_notes()
    threading.Thread(target=load, daemon=True).start()
    server.run(sockets=[listening])
    if failures:
        raise failures[0]


def _load_both(path: str, corpus: str | None, output: OutputOptions) -> tuple[TopicModel, Corpus | None]:
    """Load a model and its documents.

    The corpus is a matrix folder or data set name; None for the one saved with the model.
    """
    from tagtopics.corpus import read_corpus

    if corpus is not None:
        return load(path), read_corpus(corpus) if is_path(corpus) else load_named(corpus, output)
    model, documents = load_with_documents(path)
    if documents is None:
        note(f"{path} was saved without its corpus, so texts and credits are missing; give --corpus")
    return model, documents


def export_command(
    model: ModelArgument,
    output: OutputOptions,
    out: ExportOption = "export",
    format: FormatOption = None,
    overwrite: ReplaceOption = False,
) -> None:
    """Write topics, documents, tags and credits as tables, networks, or for other programs."""
    from tagtopics.explore.record.export import check_export, export

    format = format or ("graphml" if out.lower().endswith(".graphml") else "csv")
    check_export(out, format, overwrite=overwrite, option="--out")
    loaded, corpus = load_with_documents(model)
    if corpus is None:
        note(f"{model} was saved without its documents: no credits, no edges between tags")
    target = export(loaded, out, format, corpus=corpus, overwrite=overwrite)
    files = sorted(path for path in target.iterdir()) if target.is_dir() else [target]
    sizes = {str(path): path.stat().st_size for path in files}
    payload = {"path": str(target), "format": format, "files": sizes}
    facts = {name: f"{size:,} bytes" for name, size in sizes.items()}
    show(output.json, payload, lambda console: console.print(fact_table(facts)))
