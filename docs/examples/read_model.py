"""Read a model that tagtopics saved, without tagtopics: `python read_model.py FOLDER`."""

import hashlib
import json
import re
import sys
from pathlib import Path

import numpy as np

DTYPES = {"F16": "<f2", "F32": "<f4", "F64": "<f8", "I64": "<i8", "I32": "<i4"}


def read_description(folder):
    """Return the content of model.json, its digest and those of all other files checked."""
    content = (folder / "model.json").read_bytes()
    description = json.loads(content)
    if description["schema"] != 4:
        raise ValueError(f"{folder}: unknown schema {description['schema']}")
    own = re.search(rb'"digest":\s*"([0-9a-f]{64})"', content)
    check("model.json", content[: own.start(1)] + b"0" * 64 + content[own.end(1) :], own[1].decode())
    for name, digest in description["files"].items():
        check(name, (folder / name).read_bytes(), digest)
    return description


def check(name, content, digest):
    """Raise ValueError if the SHA-256 of some bytes is not the one that was written."""
    if hashlib.sha256(content).hexdigest() != digest:
        raise ValueError(f"{name} is damaged: its content does not match its digest")


def read_arrays(path):
    """Return the arrays of a safetensors file by name."""
    content = path.read_bytes()
    start = 8 + int.from_bytes(content[:8], "little")
    arrays = {}
    for name, entry in json.loads(content[8:start]).items():
        if name != "__metadata__":
            first, last = entry["data_offsets"]
            data = np.frombuffer(content[start + first : start + last], DTYPES[entry["dtype"]])
            arrays[name] = data.reshape(entry["shape"])
    return arrays


if __name__ == "__main__":
    model = Path(sys.argv[1])
    names, arrays = read_description(model)["names"], read_arrays(model / "arrays.safetensors")
    for k, words in enumerate(arrays["topic_words_"]):
        print(f"topic {k}:", *(names["vocabulary_"][w] for w in words[:8]))
    for tag, n_docs in zip(names["tag_names_"], arrays["tag_docs_"], strict=True):
        print(f"tag {tag}: {n_docs} documents")
