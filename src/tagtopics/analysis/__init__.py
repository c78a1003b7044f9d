"""Questions that take many fits: how many topics, which are stable, effects with intervals, time."""
