"""Fit `LDA` with default settings and print perplexity and processor seconds: for `perplexity.py`.

    PYTHON reproduction/perplexity_worker.py TRAIN.npz TEST.npz TOPICS SEED

It needs tagtopics alone, in any version.
"""

import json
import sys
import time

import scipy.sparse as sp

import tagtopics as tt

train, test = (sp.load_npz(path) for path in sys.argv[1:3])
topics, seed = map(int, sys.argv[3:5])
model = tt.LDA(topics, random_state=seed, n_jobs=1)
began = time.process_time()
model.fit_topics(train)
seconds = time.process_time() - began
sys.stdout.write(json.dumps({"perplexity": model.perplexity(test, seed=seed), "seconds": round(seconds, 2)}))
