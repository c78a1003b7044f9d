"""Models written by tagtopics 0.1.0 (schema 1): their description in the form of schema 2."""

from __future__ import annotations

from typing import Any

from tagtopics.bp.checkpoint import plain_value
from tagtopics.errors import InputError
from tagtopics.models.validation import AUTO, PRESETS, Preset

_FILES = (
    "arrays.safetensors", "corpus/words.npz", "corpus/tags.npz", "corpus/vocab.txt", "corpus/tags.txt",
    "corpus/ids.txt", "corpus/labels.txt", "corpus/split.txt", "corpus/links.npz", "corpus/texts.jsonl.gz",
    "corpus/recipe.json",
)  # fmt: skip
"""All files that 0.1.0 wrote, besides `model.json`; their digests are unknown."""

_CLASSES = {"gibbs": "GibbsLDA", "vb": "VBLDA"}
_UNUSED = {"GibbsLDA": ("tol", "memory"), "VBLDA": ("memory",)}


def upgraded(raw: dict[str, Any]) -> dict[str, Any]:
    """Return the content of a `model.json` of schema 1 as schema 2 has it, without digests."""
    try:
        if "tagtopics" not in raw["made_with"]:
            raise KeyError("made_with.tagtopics")
        parameters = dict(raw["parameters"])
        kind = _CLASSES.get(parameters.pop("inference", "bp"), raw["class"])
        numbers = {
            f"{name}_": parameters[name]
            for name in ("pairwise_weight", "higher_order_weight", "tag_pseudo_count")
            if name in parameters and not isinstance(parameters[name], str)
        }
        return {
            "format": "tagtopics model",
            "schema": 2,
            "save_id": "",
            "digest": "",
            "files": dict.fromkeys(_FILES, ""),
            "class": kind,
            "parameters": _parameters(kind, parameters),
            "recommender": raw.get("recommender"),
            "visual": raw.get("visual"),
            "numbers": numbers | raw.get("numbers", {}),
            **{name: raw[name] for name in ("recipe", "names", "history", "stop_reason", "made_with")},
        }
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise InputError(f"model.json is damaged: {type(error).__name__} {error}") from None


def _parameters(kind: str, old: dict[str, Any]) -> dict[str, Any]:
    """Return parameters of 0.1.0 under their present names."""
    parameters = dict(old)
    if parameters.get("doc_topic_prior") == "learned":
        parameters["doc_topic_prior"] = 0.1 if kind in _UNUSED else AUTO
    if parameters.pop("weights", "given") == AUTO:
        parameters |= {"pairwise_weight": AUTO, "higher_order_weight": AUTO}
    if "word_weight" not in parameters:
        return parameters
    settings = {
        "word_exponent": parameters.pop("word_weight"),
        "relaxation": parameters.pop("stride", 0.0),
        "tag_pseudo_count": parameters.pop("tag_pseudo_count", 5.0),
    }
    if kind in _UNUSED:
        return {name: value for name, value in parameters.items() if name not in _UNUSED[kind]}
    settings |= {"own_tokens": PRESETS["paper"].own_tokens, "scales_priors": False}
    preset = Preset(**settings, init=parameters.pop("init", "anchors"))
    names = [name for name, value in PRESETS.items() if value == preset]
    return parameters | {"preset": names[0] if names else plain_value(preset)}
