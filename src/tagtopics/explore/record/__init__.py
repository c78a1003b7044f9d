"""What reports, servers and notebooks show of a model."""
