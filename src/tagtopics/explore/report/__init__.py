"""The report: one HTML file."""
