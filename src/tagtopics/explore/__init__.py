"""The explorer: `TopicData` in, HTML report or server out."""

from tagtopics.explore.report.html_report import write_report

__all__ = ["write_report"]
