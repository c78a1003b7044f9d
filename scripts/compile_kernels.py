"""Compile the kernels, so that later processes find them in the cache: `make test` runs this first."""

from __future__ import annotations

from typing import Any

import tagtopics as tt


def main() -> None:
    """Fit and query one model of each kind."""
    corpus = tt.load_dataset("docstrings").select(range(0, 600, 10))
    settings: dict[str, Any] = {"max_iter": 2, "random_state": 0, "n_jobs": 1}
    for model in (
        tt.TTM(4, memory="stored", **settings),
        tt.TTM(4, preset="fast", memory="lean", **settings),
        *(tt.MarkovTTM(4, order=order, memory="stored", **settings) for order in (2, 3, 4, 5)),
        tt.LDA(4, preset=tt.Preset(init="random"), **settings),
        tt.ATM(4, **settings),
        tt.RTM(4, **settings),
        tt.LabeledLDA(**settings),
    ):
        model.fit(corpus).transform(corpus)
        if isinstance(model, tt.TTM | tt.MarkovTTM):
            model.transform(corpus, corpus)
            model.explain(corpus)
            model.partial_fit(corpus)


if __name__ == "__main__":
    main()
