"""HTML tables for notebooks; all text is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def html_table(columns: Sequence[str], rows: Iterable[Sequence[object]], caption: str = "") -> str:
    """Return a table; numbers are aligned to the right, everything else to the left."""
    head = "".join(f"<th style='text-align:left'>{escape(name)}</th>" for name in columns)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    title = f"<caption style='text-align:left'>{escape(caption)}</caption>" if caption else ""
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: object) -> str:
    is_share = isinstance(value, str) and value.endswith("%") and value[:-1].replace(".", "").isdigit()
    side = "right" if isinstance(value, int | float) or is_share else "left"
    text = f"{value:.3f}" if isinstance(value, float) else str(value)
    return f"<td style='text-align:{side}'>{escape(text)}</td>"
