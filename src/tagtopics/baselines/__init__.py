"""The models that the paper compares with: algorithm, compiled loops and readable reference side by side."""
