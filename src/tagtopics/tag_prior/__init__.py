"""What the tags of a document say about its topics and its words, in tokens."""
