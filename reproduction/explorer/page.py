"""From the records of `peers.py` and `workbench.py` to pages/explorer-comparison.md."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from reproduction import ROOT

Record = dict[str, Any]
REPORT = ROOT / "benchmarks" / "results" / "explorer" / "report.json"
ORDER = ("ours", "ours-all", "datamapplot", "topicwizard", "pyldavis", "atlas")

HEAD = """# Comparison with other explorers

The same {documents:,} generated documents in our report and in other explorers of document maps and topics,
each opened in Chromium on the same machine. All get the same texts, and topics and places on the map from one
fit; each has its default options, and the full texts where it has a place for them.
`reproduction/explorer/peers.py` makes the pages, opens them and writes this page.

Seconds are those of a browser without a graphics card (software rendering) on two cores, the median of three,
{conditions}. Scripts that a page loads from elsewhere come from local copies, so
their seconds hold no network time.
"""

NOTES = """## How it was measured

- **Bytes**: the file; of an explorer with a server, what the browser receives until the first view.
- **First view**: from the request until the map of documents (pyLDAvis: of topics) is drawn.
- **Network**: requests to other hosts while the page opens, and whether the first view appears if they are
  refused.
- **Search**: a field that finds words in the texts of documents; a word of a document was typed into it.
- **Keyboard**: elements that the Tab key reaches, of those that can have the focus in the first view.
- **axe**: violations of axe-core (WCAG 2.2 A and AA, best practice) in the first view: rules, elements.
- **A click on a document**: up to 60 places of the map are clicked; how much of a document the page then
  shows.
"""


def write_page(records: Path, pages: Path) -> None:
    """Write the page from all records there are, beside its pictures in `images`."""
    found = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in records.glob("*.json")}
    rows = [found[name] for name in ORDER if name in found]
    if not rows or "ours" not in found:
        return
    others = [row for row in rows if "error" not in row and not row["name"].startswith("ours")]
    parts = [
        HEAD.format(documents=rows[0]["documents"], conditions=_conditions(rows)),
        _losses(found["ours"], found.get("ours-all"), others),
        _table(rows),
        _failures(rows),
        _own_figures(records),
        NOTES,
        _pictures(rows, pages / "images"),
    ]
    page = pages / "explorer-comparison.md"
    page.write_text("\n".join(part for part in parts if part).rstrip() + "\n", encoding="utf-8")


def _conditions(rows: list[Record]) -> str:
    if all(row.get("alone") for row in rows):
        return "while nothing else ran on the machine"
    loads = [f"{load:.1f}" for load in sorted(row["load"] for row in rows if "load" in row)]
    return f"with load averages of {loads[0]} to {loads[-1]}"


def _own_figures(records: Path) -> str:
    """Return what was measured of our report alone, as far as there are records."""
    lines = []
    if REPORT.exists():
        record = json.loads(REPORT.read_text(encoding="utf-8"))
        browser = record["browser"]
        for name, what in (("panning", "dragging"), ("zooming", "zooming")):
            if found := browser.get(name):
                lines.append(
                    f"| frames per second while {what}, {record['documents']:,} points | "
                    f"{found['frames_per_second']:.0f}; 90 % of the frames within "
                    f"{found['frame_ms_90_percent_below']:.1f} ms |"
                )
        lines += [
            f"| first view, {record['documents']:,} documents | {browser['seconds_to_first_view']:.1f} s |",
            f"| page of a document | {browser['document_page_seconds']:.2f} s |",
            f"| delay while typing a search | {browser['input_delay_ms']['median']:.0f} ms, at most "
            f"{browser['input_delay_ms']['worst']:.0f} ms |",
        ]
    for path in sorted(records.glob("workbench-*.json")):
        found = json.loads(path.read_text(encoding="utf-8"))
        lines.append(
            f"| workbench in the file, {found['documents']} held-out documents of {found['collection']} | "
            f"{found['five_tags_equal']:.3f} of five tags equal Python's; topics "
            f"{found['topics_apart']:.3f} apart (L1); 200 words take "
            f"{found['processor_ms_200_words']:.0f} ms of processor time; "
            f"{found['workbench_megabytes']:.2f} MB |"
        )
    if not lines:
        return ""
    told = "`python -m benchmarks.explorer report` and `reproduction/explorer/workbench.py` measure these."
    return "\n".join(["## Our report alone", "", told, "", "| | |", "|---|---|", *lines, ""])


def _losses(ours: Record, full: Record | None, others: list[Record]) -> str:
    """Return where another explorer is ahead of ours."""
    lines = []
    for row in others:
        name = row["title"]
        if row["bytes"] < ours["bytes"]:
            lines.append(f"- {name} needs {_mb(row)} MB, ours {_mb(ours)} MB.{_why(row)}")
        if row["seconds_to_first_view"] < ours["seconds_to_first_view"]:
            lines.append(f"- {name} shows its first view in {_seconds(row)} s, ours in {_seconds(ours)} s.")
        if row["axe"]["rules"] < ours["axe"]["rules"]:
            rules = row["axe"]["rules"], ours["axe"]["rules"]
            lines.append(f"- axe finds {rules[0]} kinds of faults in {name}, {rules[1]} in ours.")
        if row.get("seconds", ours["seconds"]) < ours["seconds"]:
            took = f"{row['seconds']:.0f} s, ours in {ours['seconds']:.0f} s"
            lines.append(f"- {name} is made in {took}, without the fit.")
    if full is not None:
        lines += [
            f"- With all texts, ours needs {_mb(full)} MB, {row['title']} {_mb(row)} MB."
            for row in others
            if row["click"] is not None and row["name"] == "datamapplot" and row["bytes"] < full["bytes"]
        ]
    left = ours["documents"] - ours["n_texts"]
    if left > 0:
        lines.append(
            f"- Our file has a limit of 15 MB, which leaves out {left:,} of the texts; the other explorers "
            "of documents have all of them."
        )
    return "\n".join(["## Where ours is behind", "", *(lines or ["- In none of the figures below."]), ""])


def _why(row: Record) -> str:
    if row["click"] is None:
        return " It has no documents."
    return "" if row["name"] == "datamapplot" else " It asks its server for the rest."


def _table(rows: list[Record]) -> str:
    head = ["", *(f"{row['title']} {row.get('version', '')}".strip() for row in rows if "error" not in row)]
    rows = [row for row in rows if "error" not in row]
    facts = (
        ("bytes (MB)", _mb),
        ("first view (s)", _seconds),
        ("made in (s)", lambda row: f"{row['seconds']:.0f}" if row.get("seconds") else "not measured"),
        ("needs a server", lambda row: "yes" if row["name"] in ("topicwizard", "atlas") else "no"),
        ("requests to other hosts", _network),
        ("opens without a network", _offline),
        ("search", _search),
        ("keyboard", _keyboard),
        ("axe: rules, elements", lambda row: f"{row['axe']['rules']}, {row['axe']['elements']}"),
        ("a click on a document", _click),
    )
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    lines += [f"| {name} | {' | '.join(str(fact(row)) for row in rows)} |" for name, fact in facts]
    return "\n".join(["## Figures", "", *lines, ""])


def _mb(row: Record) -> str:
    return f"{row['bytes'] / 1e6:.1f}"


def _has_map(row: Record) -> bool:
    """Tell whether the browser could draw the map; without, its seconds and clicks say nothing."""
    return bool(row.get("map", True))


def _seconds(row: Record) -> str:
    return f"{row['seconds_to_first_view']:.1f}{'' if _has_map(row) else ', without its map'}"


def _network(row: Record) -> str:
    return f"{row['requests']} ({', '.join(row['hosts'])})" if row["requests"] else "0"


def _offline(row: Record) -> str:
    return "yes" if row["offline"] else "no"


def _keyboard(row: Record) -> str:
    found = row["keyboard"]
    return f"{found['reached']} of {max(found['focusable'], found['reached'])}"


def _search(row: Record) -> str:
    found = row["search"]
    if not _has_map(row):
        return "not tried"
    if found is None:
        return "none"
    return "marks points" if not found["names_it"] else "lists what it finds"


def _click(row: Record) -> str:
    found = row["click"]
    if not _has_map(row):
        return "not measured"
    if found is None:
        return "has no documents"
    if not found["words"] and not found["tags"]:
        return "nothing"
    parts = [f"{found['words']:.0%} of its words", f"{found['tags']:.0%} of its tags"]
    how = ["as when pointing at it"] if found.get("pointing") else []
    return ", ".join([*parts, f"{found['links']} links", *how])


def _failures(rows: list[Record]) -> str:
    lines = [
        f"- {row['title']}: `{row['error']}`, {_conditions([row])}."
        if row.get("alone")
        else f"- {row['title']}: `{row['error']}`, with the load given above; not tried on an idle machine."
        for row in rows
        if "error" in row
    ]
    if any(row["name"] == "topicwizard" for row in rows):
        lines.append("- topicwizard fetches a font from github.com when it starts; it got one from a file.")
    lines += [
        f"- {row['title']} draws its map with WebGPU, which this browser does not have: the map, clicks "
        "on it and its search were not measured. Its bytes hold no places of documents."
        for row in rows
        if not _has_map(row)
    ]
    missing = {row["title"]: row["unanswered"] for row in rows if row.get("unanswered")}
    lines += [
        f"- {title} asked for {len(urls)} files that had no local copy: {_hosts(urls)}."
        for title, urls in missing.items()
    ]
    return "\n".join(["## What did not work", "", *lines, ""]) if lines else ""


def _hosts(urls: list[str]) -> str:
    return ", ".join(sorted({url.split("/")[2] for url in urls}))


def _pictures(rows: list[Record], images: Path) -> str:
    lines = ["## Pictures", ""]
    for row in rows:
        for more, what in (("", "first view"), ("-document", "after a click on a document")):
            name = f"explorer-peer-{row['name']}{more}.png"
            if "error" not in row and (images / name).exists():
                lines += [f"**{row['title']}, {what}**", "", f"![{row['title']}, {what}](images/{name})", ""]
    return "\n".join(lines)
