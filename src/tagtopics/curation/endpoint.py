"""Names of topics from a language model behind an OpenAI-compatible address, which the user gives."""

from __future__ import annotations

import json
import os
import threading
import unicodedata
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any

import numpy as np

from tagtopics.curation.journal import curation_of
from tagtopics.errors import InputError, one_line
from tagtopics.jit.top import largest
from tagtopics.models.online import OnlineModel
from tagtopics.models.results import topic_rows

KEY = "TAGTOPICS_API_KEY"
"""The environment variable with the key of the endpoint, if it needs one."""

SECONDS = 120.0  # for one answer
_MOST_BYTES = 1_000_000  # of an answer
_LONGEST = 60  # characters of a name
_TRIES = 3  # for a name that can be used
_TITLES, _SIBLINGS = 5, 8
_TASK = (
    "You name the topics of a topic model. Answer with the name of the topic only: a noun phrase of two to "
    "five words in the language of its words, without quotation marks or explanation. The name must tell the "
    "topic apart from the other topics."
)


def ask_for_names(model: OnlineModel, address: str, llm: str) -> dict[int, str]:
    """Return a name for each topic that has none from the user; no two topics have the same name.

    Words, tags and titles of each topic are sent, and words of the topics most similar to it, one request per
    topic. If the endpoint fails or gives no usable name, it is an `InputError`.

    Args:
        model: the model.
        address: of the endpoint, such as `http://localhost:11434/v1`.
        llm: the name of the language model there.
    """
    rows = topic_rows(model, 15, 5)
    journal = curation_of(model)
    in_use = [topic.name for topic in journal.topics if topic.name]  # also of seeds to come
    roots = np.sqrt(model.components_)
    names: dict[int, str] = {}
    for k in (k for k in range(len(rows)) if k not in journal.names):
        similar = largest(np.delete(roots @ roots[k], k), _SIBLINGS)
        others = [rows[j + (j >= k)] for j in similar.tolist()]
        best = [model.doc_titles_[d] for d in largest(model.doc_topic_[:, k], 4 * _TITLES)]
        question = {
            "topic": _describe_topic(rows[k])
            | {"titles": [title[:200] for title in best if title][:_TITLES]},
            "other_topics": [_describe_topic(row) for row in others],
            "names_in_use": [*in_use, *names.values()],
        }
        names[k] = _ask_for_name(question, f"topic {k}", address, llm)
    return names


def _describe_topic(row: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return words and tags of a topic; the words of photographs are codes."""
    words = [] if row["coded"] else [one["word"][:60] for one in row["words"]]
    return {"words": words, "tags": [one["name"][:100] for one in row["tags"]]}


def _ask_for_name(question: Mapping[str, Any], what: str, address: str, llm: str) -> str:
    """Return a name; if it cannot be used, say why and ask again."""
    talk = [
        {"role": "system", "content": _TASK},
        {"role": "user", "content": json.dumps(question, ensure_ascii=False)},
    ]
    used = {name.casefold() for name in question["names_in_use"]}
    for _ in range(_TRIES):
        said = _post(address, {"model": llm, "messages": talk}).rpartition("</think>")[2].strip()
        name = said.rstrip(".").strip("\"'`*“”„«» ").rstrip(".")
        problem = "it is already in use" if name.casefold() in used else problem_of(name)
        if not problem:
            return name
        again = f"This name cannot be used: {problem}. Answer with another name only."
        talk += [{"role": "assistant", "content": said[:200]}, {"role": "user", "content": again}]
    raise InputError(f"{what}: {address} gave no usable name in {_TRIES} tries: {problem}, {name[:60]!r}")


def problem_of(name: str) -> str:
    """Return why a name cannot be used, or an empty string."""
    if not any(character.isalnum() for character in name):
        return "it has no letters"
    if len(name) > _LONGEST:
        return f"it is longer than {_LONGEST} characters"
    controls = {c for c in name if unicodedata.category(c)[0] == "C"} - {"\u200c", "\u200d"}  # in words
    if controls or len(name.splitlines()) > 1:
        return "it has control characters or several lines"
    return "it has markup" if set(name) & set("<>{}") else ""


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Refuses to go elsewhere: another address would get the key."""

    def redirect_request(self, *_: Any) -> None:
        """Follow nothing."""


def _post(address: str, body: Mapping[str, Any]) -> str:
    """Return what the language model says; every failure is an `InputError`."""
    headers, key = {"Content-Type": "application/json"}, os.environ.get(KEY, "").strip()
    if not address.lower().startswith(("http://", "https://")):
        raise InputError(f"{address[:80]!r} is no address; give one such as http://localhost:11434/v1")
    if not (key.isascii() and key.isprintable()):
        raise InputError(f"{KEY}: the key has characters that no key has")
    if key:
        headers["Authorization"] = f"Bearer {key}"
    place = f"{address.rstrip('/').removesuffix('/chat/completions')}/chat/completions"
    content, found = json.dumps(body).encode(), list[bytes | Exception]()

    def post() -> None:
        try:
            request = urllib.request.Request(place, content, headers)
            with urllib.request.build_opener(_NoRedirect).open(request, timeout=SECONDS) as answer:
                found.append(answer.read(_MOST_BYTES + 1))
        except Exception as error:
            found.append(error)

    asking = threading.Thread(target=post, daemon=True)  # a slow answer can be left alone
    asking.start()
    asking.join(SECONDS)
    answer = found[0] if found else TimeoutError(f"no answer within {SECONDS:g} seconds")
    if isinstance(answer, urllib.error.HTTPError):
        answer.close()
        raise InputError(f"{address}: status {answer.code}; check address, model and {KEY}") from None
    if isinstance(answer, Exception):
        strange = f"no address, or no answer in HTTP ({type(answer).__name__})"
        raise InputError(
            f"{address}: {one_line(answer) if isinstance(answer, OSError) else strange}"
        ) from None
    if len(answer) > _MOST_BYTES:
        raise InputError(f"{address}: the answer has more than {_MOST_BYTES:,} bytes")
    try:
        return str.strip(json.loads(answer)["choices"][0]["message"]["content"])
    except (ValueError, LookupError, TypeError, RecursionError):
        raise InputError(f"{address}: not an answer of an OpenAI-compatible API") from None
