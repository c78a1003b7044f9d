"""Write the model folders of a released version that `tests/models/test_models_saving.py` loads.

    python scripts/make_model_fixtures.py tests/models/fixtures

Run it once per release, with that release installed (PYTHONPATH selects another one), and commit the folder
`model-VERSION`. It has one small model for each kind of parameters, one of them with its corpus, and
`expected.json` with answers that later versions must reproduce.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Any

import tagtopics as tt

TEXTS = [
    ("bread butter oven bread salt", ["cook"]),
    ("oven salt butter flour", ["cook", "home"]),
    ("wind sail boat sea", ["sailor"]),
    ("sea boat wave wind wave", ["sailor", "travel"]),
    ("boat sea salt bread", ["sailor", "cook"]),
    ("home oven butter flour bread", ["home"]),
]


def models() -> dict[str, Any]:
    """Return the estimators of this version by the name of their folder."""
    few: dict[str, Any] = {"max_iter": 5, "random_state": 0, "n_jobs": 1}
    if hasattr(tt, "Preset"):
        return {"ttm": tt.TTM(2, **few), "lda-gibbs": tt.GibbsLDA(2, **few), "lda-vb": tt.VBLDA(2, **few)}
    old: Any = tt
    return {
        "ttm": old.TTM(2, **few),
        "ttm-auto": old.TTM(2, weights="auto", tag_pseudo_count="auto", word_weight=0.75, stride=0.8, **few),
        "lda": old.LDA(2, doc_topic_prior="learned", init="random", **few),
        "lda-gibbs": old.LDA(2, inference="gibbs", **few),
        "lda-vb": old.LDA(2, inference="vb", **few),
        "llda": old.LabeledLDA(**few),
    }


def main(target: Path) -> None:
    """Fit and save the models, and write what they answer."""
    rows = [{"id": f"d{i}", "text": text, "tags": tags} for i, (text, tags) in enumerate(TEXTS)]
    corpus = tt.read_corpus(rows)
    folder = target / f"model-{tt.__version__}"
    expected = {}
    for name, model in models().items():
        model.fit(corpus).save(folder / name, **({"corpus": corpus} if name == "ttm" else {}))
        recommended = [[one.tag for one in row] for row in model.recommend(corpus, top=2)]
        expected[name] = {
            "transform": model.transform(corpus.counts).tolist(),
            "recommend": recommended,
            "credit": model.explain(corpus).credit.tolist() if hasattr(model, "explain") else None,
        }
    (folder / "expected.json").write_text(json.dumps(expected, indent=1), encoding="utf-8")


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main(Path(sys.argv[1]))
