"""Constants shared by compiled kernels, their references and the algorithms. Nothing here is compiled."""

from __future__ import annotations

import numpy as np

SIGN_STREAM = 1 << 61  # first counter of the random signs of `anchors`
NOISE_STREAM = 3 << 61  # first counter of the noise patterns of `start`
NOISE = np.float32(1e-3)  # added to each initial p(topic | word), so that no topic is ruled out
RECALLS = 5  # how often a message is recomputed to recall it; see decision 207
FOLD_RELAXATION = 0.7  # over-relaxation of theta of new documents; values from 0.5 to 1 measured alike
PATTERNS = 256  # rows of noise to draw from: separate noise for each message would cost more than its topics
READS = 2  # EM steps on a document before its first messages are drawn; more make topics sharp too soon
READ_PRIOR = np.float32(0.03)  # pseudo-count of each topic in these steps
LEAST = 0.2  # smallest relaxed word sum, as a share of the sum itself
ROOTS = 4  # word exponents are rounded to 1 / 2^ROOTS: then square roots suffice, which are fast and portable
