"""Where topics stand on the map: near where they share words, apart where they would cover one another."""

from __future__ import annotations

import numpy as np

from tagtopics._typing import Float32, Float64

_STEPS = 300
_GAP = 0.012


def topic_distances(topic_word: Float32) -> Float64:
    """Return (K, K): the Hellinger distance of topics, 0 for equal and 1 for no word in common."""
    roots = np.sqrt(topic_word.astype(np.float64))
    return np.asarray(np.sqrt(np.clip(1.0 - roots @ roots.T, 0.0, 1.0)))


def classical_scaling(distances: Float64) -> Float64:
    """Return (K, 2): the plane that keeps the distances best (principal coordinates)."""
    K = len(distances)
    centre = np.eye(K) - 1.0 / K
    gram = -0.5 * centre @ (distances**2) @ centre
    values, vectors = np.linalg.eigh((gram + gram.T) / 2)
    plane = vectors[:, ::-1][:, :2] * np.sqrt(np.maximum(values[::-1][:2], 0))
    if plane.shape[1] < 2:
        plane = np.pad(plane, ((0, 0), (0, 2 - plane.shape[1])))
    signs = np.where(plane[np.argmax(np.abs(plane), axis=0), [0, 1]] < 0, -1.0, 1.0)
    return np.asarray(plane * signs)


def topic_map(topic_word: Float32, share: Float64) -> tuple[Float64, Float64]:
    """Return places (K, 2) in the unit square and radii (K,) whose areas are the shares of the topics."""
    K = len(topic_word)
    radii = np.clip(np.sqrt(share) * 0.30, 0.016, 0.14)
    if K == 1:
        return np.full((1, 2), 0.5), radii
    places = classical_scaling(topic_distances(topic_word))
    span = np.maximum(np.ptp(places, axis=0), 1e-9)
    places = 0.12 + 0.76 * (places - places.min(0)) / span
    return _apart(places, radii), radii


def _apart(places: Float64, radii: Float64) -> Float64:
    """Push circles that overlap away from one another, each half of the way, and keep all in the square."""
    turn = np.arange(len(places)) * 2.399963  # the golden angle: no two circles start at the same place
    places = places + 1e-4 * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    least = radii[:, None] + radii[None, :] + _GAP
    for _ in range(_STEPS):
        offset = places[:, None, :] - places[None, :, :]
        distance = np.sqrt((offset**2).sum(2)) + np.eye(len(places))
        overlap = np.maximum(least - distance, 0)
        np.fill_diagonal(overlap, 0)
        if not overlap.any():
            break
        places = places + 0.5 * (offset / distance[:, :, None] * overlap[:, :, None]).sum(1)
        places = np.clip(places, radii[:, None] + 0.005, 1 - radii[:, None] - 0.005)
    return places
