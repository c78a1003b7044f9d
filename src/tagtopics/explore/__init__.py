"""The explorer: `TopicData` in, pages out. `prepare` makes the payload, `report` a file."""

from tagtopics.explore.report import write_report

__all__ = ["write_report"]
