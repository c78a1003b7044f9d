"""How much results depend on what the paper leaves open: priors, samples kept, features of links."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from reproduction.claims import SAME_WORDS
from reproduction.paper import Comparison, Table, cells, compare
from reproduction.spec import OPEN_PRIORS, Record
from tagtopics.corpus.read import number_of

_TOPICS = (20, 50)
_SAMPLES = {"": "mean of the last quarter", "-last": "last sample"}
"""Which samples of ATM and RTM are kept, by the end of the model's name."""

_PROTOCOLS = {"perplexity": "completion", SAME_WORDS: "the paper's protocol"}
_FEATURES = {
    "f1": "F, roots",
    "f1_products": "F, products",
    "auc": "AUC, roots",
    "auc_products": "AUC, products",
}


def open_choice_tables(records: Sequence[Record]) -> list[Table]:
    """Return the gains over ATM and RTM on CORA with each choice that the paper leaves open."""
    open_records = [record for record in records if record.spec.priors is not None]
    return [_perplexity_table(records), _link_table(open_records)] if open_records else []


def _perplexity_table(records: Sequence[Record]) -> Table:
    rows, saved = [], []
    for name, model in (("TTM-P", "ttm-p"), ("LDA", "lda-tags")):
        for priors, samples in _choices():
            row = [name, _text(priors), _SAMPLES[samples]]
            for K in _TOPICS:
                for measure in _PROTOCOLS:
                    pairs = ((model, f"{other}{samples}") for other in ("atm", "rtm"))
                    found = [_gain(records, "perplexity", measure, K, priors, pair) for pair in pairs]
                    row.append(" / ".join("–" if r is None else f"{100 * r.mean:+.1f}" for r in found))
                    saved += [r for r in found if r is not None and name == "TTM-P"]
            rows.append(tuple(row))
    places = (f"K = {K}, {protocol}" for K in _TOPICS for protocol in _PROTOCOLS.values())
    note = (
        "Per cent of perplexity saved over ATM / over RTM; the paper states almost 15. "
        f"{_range(saved, 'TTM-P', '%')} LDA is learned by the same belief propagation, without tags. "
        f"{_repeated(records)}"
    )
    header = ("model", "priors", "samples of ATM and RTM", *places)
    return Table("Perplexity on CORA by what the paper leaves open", header, tuple(rows), note)


def _link_table(records: Sequence[Record]) -> Table:
    rows, gained = [], []
    for priors, samples in _choices():
        for K in _TOPICS:
            pair = ("ttm-h", f"rtm{samples}")
            found = [_gain(records, "links", measure, K, priors, pair) for measure in _FEATURES]
            rows.append((_text(priors), _SAMPLES[samples], str(K), *map(_points, found)))
            gained += [r for r in found[:2] if r is not None]
    note = (
        "Points gained by TTM-H over RTM, ± standard error; the paper states about 8 points of F. "
        f"{_range(gained, 'TTM-H', 'points of F')} Products of proportions are the paper's features. "
        'The answer "always a link" has F 0.667 and AUC 0.5.'
    )
    header = ("priors", "samples of RTM", "K", *_FEATURES.values())
    return Table("Links on CORA by what the paper leaves open", header, tuple(rows), note)


def _range(results: Sequence[Comparison], model: str, unit: str) -> str:
    """Return the smallest and the largest gain over all choices, and the number of splits behind them."""
    if not results:
        return ""
    gains, splits = [100 * r.mean for r in results], {r.n_splits for r in results}
    behind = " or ".join(number_of(n, "split") for n in sorted(splits))
    return (
        f"Over all choices {model} gains {min(gains):+.1f} to {max(gains):+.1f} {unit} (means over {behind})."
    )


def _choices() -> Iterable[tuple[tuple[float, float], str]]:
    return ((priors, samples) for priors in OPEN_PRIORS for samples in _SAMPLES)


def _gain(
    records: Sequence[Record],
    task: str,
    measure: str,
    K: int,
    priors: tuple[float, float],
    models: tuple[str, str],
) -> Comparison | None:
    """Compare two models at one number of topics."""
    found = (cells(records, "cora", task, measure, model, priors=priors) for model in models)
    better, worse = ({cell: value for cell, value in some.items() if cell[0] == K} for some in found)
    return compare(better, worse, measure)


def _text(priors: tuple[float, float]) -> str:
    return f"{priors[0]:g}, {priors[1]:g}"


def _points(result: Comparison | None) -> str:
    return "–" if result is None else f"{100 * result.mean:+.1f} ± {100 * result.error:.1f}"


def _repeated(records: Sequence[Record]) -> str:
    """Return how many fits with our priors have the same perplexity as with older code, to the last bit."""
    models = ("ttm-p", "ttm-h", *(f"{model}{samples}" for model in ("atm", "rtm") for samples in _SAMPLES))
    equal = []
    for model in models:
        new, old = (
            cells(records, "cora", "perplexity", "perplexity", model, priors=priors)
            for priors in (OPEN_PRIORS[0], None)
        )
        equal += [new[cell] == old[cell] for cell in set(new) & set(old)]
    return (
        f"Of {len(equal)} fits that repeat older records, {sum(equal)} have the same perplexity to the bit."
    )
