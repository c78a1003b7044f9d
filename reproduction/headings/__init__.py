"""Recommended subject headings, ours and Annif's: pages/heading-results.md."""
