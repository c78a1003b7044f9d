"""The number of topics, and comparisons of models."""
