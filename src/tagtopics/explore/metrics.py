"""Counters of the server, in the text format that Prometheus reads."""

from __future__ import annotations

from collections import Counter

_BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """Requests by route and status, and how long they took. Lives in one event loop, so it needs no lock."""

    def __init__(self) -> None:
        self._requests: Counter[tuple[str, int]] = Counter()
        self._buckets: Counter[tuple[str, float]] = Counter()
        self._seconds: Counter[str] = Counter()
        self.in_flight = 0

    def record(self, route: str, status: int, seconds: float) -> None:
        """Count one request; `route` is the pattern of the address, never the address itself."""
        self._requests[route, status] += 1
        self._seconds[route] += seconds  # type: ignore[assignment]
        for bound in _BOUNDS:
            if seconds <= bound:
                self._buckets[route, bound] += 1

    def text(self, pending: int) -> str:
        """Return all counters as text."""
        lines = ["# TYPE tagtopics_requests_total counter"]
        for (route, status), n in sorted(self._requests.items()):
            lines.append(f'tagtopics_requests_total{{route="{route}",status="{status}"}} {n}')
        lines.append("# TYPE tagtopics_request_seconds histogram")
        for route in sorted(self._seconds):
            total = sum(n for (name, _), n in self._requests.items() if name == route)
            for bound in _BOUNDS:
                n = self._buckets[route, bound]
                lines.append(f'tagtopics_request_seconds_bucket{{route="{route}",le="{bound}"}} {n}')
            lines.append(f'tagtopics_request_seconds_bucket{{route="{route}",le="+Inf"}} {total}')
            lines.append(f'tagtopics_request_seconds_sum{{route="{route}"}} {self._seconds[route]:.6f}')
            lines.append(f'tagtopics_request_seconds_count{{route="{route}"}} {total}')
        lines += [
            "# TYPE tagtopics_requests_in_flight gauge",
            f"tagtopics_requests_in_flight {self.in_flight}",
        ]
        lines += ["# TYPE tagtopics_work_pending gauge", f"tagtopics_work_pending {pending}"]
        return "\n".join(lines) + "\n"
