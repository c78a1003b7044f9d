"""LDA by collapsed Gibbs sampling, with the sampler of the relational topic model."""

from __future__ import annotations

from typing import ClassVar

from tagtopics.baselines.gibbs import GibbsModel


class GibbsLDA(GibbsModel):
    """Latent Dirichlet allocation (Griffiths and Steyvers 2004) by collapsed Gibbs sampling.

    It learns topics differently from `LDA`, and infers those of new documents in the same way.

    Args:
        n_topics: the number of topics, K.
        doc_topic_prior: pseudo-count of each topic in each document; alpha.
        topic_word_prior: pseudo-count of each word in each topic; beta.
        max_iter: number of sweeps.
        averaged_share: share of the sweeps, the last ones, whose mean is the result; 0 uses the last sweep.
        init: "anchors" draws the first topics around anchor words, "random" uniformly.
        random_state: seed of the chain; equal seeds give equal bits.
        n_jobs: threads for the start and for new documents; None or -1 for all cores. The chain is serial.

    Attributes:
        components_, doc_topic_, n_iter_, history_, stop_reason_, vocabulary_, doc_ids_: as in `LDA`.
    """

    _ignores_tags: ClassVar[bool] = True
    _saved_arrays: ClassVar[dict[str, tuple[str, ...]]] = {
        "tag_sums_": ("T", "K"), "tag_squares_": ("T", "K"),
    }  # fmt: skip
