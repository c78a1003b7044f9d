"""Questions about a collection as a whole: the quality of its tags, how many topics, effects, time."""
