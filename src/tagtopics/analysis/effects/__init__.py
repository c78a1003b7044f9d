"""Effects of covariates on topics, and trends."""
