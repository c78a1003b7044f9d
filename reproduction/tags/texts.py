"""The texts of pages/tag-results.md, for `page.py`."""

HEAD = """# What tags are worth

Perplexity of held-out words against LDA with learned priors, in per cent: mean over random splits, and half
of the 90 % interval; below zero is better. The columns are the share of a document's words that are seen;
the held-out words are the same for all. 50 topics, at most 100 sweeps. TTM is the default model; its topics
are LDA's, bit for bit, so with tags hidden it predicts words as LDA does. TTM-H is the paper's model,
`MarkovTTM()`.

All figures were measured in November 2026, those of "Right, inferred and wrong tags" with commit f8c248d, all
others with commit d462144 or before. Since then `LDA` and `TTM` choose their prior and the exponent of the
words on held-out documents (decision 206): LDA predicts better, and tags gain less. Perplexities of CORA,
MED, bibtex and the anthology were measured before words were credited to tags in every fifth sweep (decision
223); ours in the table of tomotopy, measured later, differ from them by at most 0.01 %. Links, classes,
topics and credit of texts were measured before the limit on own tokens (decision 208), which changes no bit
of CORA, MED, bibtex and the anthology, and little elsewhere. Commit c998b43 is the last one that can use
similar documents (`similar=True`). `reproduction/tags/page.py` writes the page from the records of
`wrong.py`, `results.py`, `tasks.py`, `peers.py` and `fits.py` in `reproduction/records/tags`, and from those
of similar documents. Goals are judged by means over splits, those that are missed first; the tables below say
how many splits there are."""

WRONG = """\
A fifth of the words of each test document is predicted from 1, 5 or 20 of its other words, or from half of
its words. Right tags are its own; wrong ones are as many others, drawn at random. The model cannot know
that they are wrong: it weighs tags by what right ones told it about documents set aside."""

PHOTOGRAPHS = """\
On photographs (corel5k-images) 8 % would be nearly all that can be gained. A photograph has 11,970
visual words, so 5 % of them are about 600, and these tell more than its tags. With 5 % seen, LDA has a
perplexity of 37.5 (five splits). The histogram of the whole photograph, which includes the words to be
predicted, has 34.4, 8.5 % less. Since own tokens have a limit (decision 208), LDA itself predicts
photographs 3.5 % better, and tags add less to it: 0.7 instead of 1.2 %."""

PEERS = """\
Perplexity and processor seconds of one thread. The samplers learn their priors, with up to 300 sweeps or
240 seconds; documents are inferred by the same fold-in from their topics and priors. PLDA has a topic for
each of the 200 most frequent tags next to 50 latent ones. On CORA the prior of DMR comes from 2,480
authors, most of them on few documents, and it predicts far worse than LDA: the weights of the authors add
up in an exponent, so the prior of a paper with 41 authors has 10^34 tokens. Where DMR or PLDA is missing,
it was not run. On docstrings PLDA predicts better than TTM with 80 % of the words seen and tags known; TTM
with tags inferred has 342 there, and with similar documents 198 (split 1)."""

SIMILAR = """\
`similar=True` added the words of the 20 training documents that are most similar to the words seen, up to
commit c998b43. This is smoothing by neighbours, and no evidence for tags: the control has shuffled tags and
gains as much as hidden tags do. What tags are worth beside similar documents is the difference between the
second table and the first: with 80 % seen, known tags lower the perplexity by 0.6 % on docstrings, where
methods repeat the texts of other methods, by 1.3 % on cora, by 3.2 % on bibtex and by 0.5 to 4 % on the other
four; with 5 % seen by 11 to 23 %. Photographs were not measured."""

FITS = """\
Processor seconds of one thread, least of three fits; topics and what tags say, without the recommender,
which version 0.1.0 trained when it was first asked. Both versions were measured one after the other; texts
that are read from files have fewer rare words now."""
