"""The explorer: `TopicData` in, HTML report or server out."""

from typing import TYPE_CHECKING

from tagtopics._lazy import lazy

if TYPE_CHECKING:
    from tagtopics.explore.report.html_report import ReportOptions, write_report

__all__ = ["ReportOptions", "write_report"]

__getattr__ = lazy(__name__, {"report.html_report": ("ReportOptions", "write_report")})
