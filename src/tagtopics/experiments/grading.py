"""What a verdict is, and what it can be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

HOLDS, SMALLER, IN_PART = "holds", "right sign, smaller", "holds in part"
UNCERTAIN, FAILS, UNKNOWN = "right sign, not certain", "does not hold", "not measured"


@dataclass(frozen=True)
class Verdict:
    """A claim, what became of it, and the figures behind that.

    Attributes:
        text: the claim in a line.
        source: where it is made.
        status: `HOLDS`, `SMALLER`, `IN_PART`, `UNCERTAIN`, `FAILS` or `UNKNOWN`.
        evidence: the figures, in a line.
    """

    text: str
    source: str
    status: str
    evidence: str

    def to_json(self) -> dict[str, str]:
        """Return what `--json` prints."""
        return {"claim": self.text, "source": self.source, "status": self.status, "evidence": self.evidence}


def status_of(holds: Sequence[bool]) -> str:
    """Return the verdict on a claim that makes several statements."""
    if not holds:
        return UNKNOWN
    return HOLDS if all(holds) else IN_PART if any(holds) else FAILS
