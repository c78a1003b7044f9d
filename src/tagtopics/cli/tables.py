"""Tables of topics and tags for the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table


def words_in(row: dict[str, Any], n: int | None = None) -> list[str]:
    """Return the words of a row."""
    return [entry["word"] for entry in row["words"]][:n]


def topic_table(rows: Sequence[dict[str, Any]], title: str) -> Table:
    """Return the topics for people."""
    from tagtopics.cli.output import join, make_table, per_cent

    tagged = any(row["tags"] for row in rows)
    table = make_table(title, [">topic", ">share", "words", *(["most typical tags"] if tagged else [])])
    for row in rows:
        names = [entry["tag"] for entry in row["tags"]]
        tags = [join(names, ", ")] if tagged else []
        table.add_row(str(row["topic"]), per_cent(row["share"]), join(words_in(row)), *tags)
    return table


def profile_table(rows: Sequence[dict[str, Any]], title: str) -> Table:
    """Return what tags stand for, for people."""
    from tagtopics.cli.output import join, make_table

    table = make_table(title, ["tags", ">documents", "words", "topics"])
    for row in rows:
        docs = str(row["n_docs"][0]) if len(row["n_docs"]) == 1 else ""
        topics = [f"{entry['topic']} ({100 * entry['probability']:.0f} %)" for entry in row["topics"]]
        table.add_row(join(row["tags"], " + "), docs, join(words_in(row)), ", ".join(topics))
    return table
