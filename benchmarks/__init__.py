"""Benchmarks: tagtopics and its peers in one run, on the same documents, by one evaluator.

    python -m benchmarks.run            everything, about an hour on two cores
    python -m benchmarks.run --quick    everything, capped hard, under ten minutes

`run` starts each measurement in a process of its own (`worker`), which writes one JSON record; `report`
reads records only and writes the page and the plots. Nothing here is part of the package.
"""
