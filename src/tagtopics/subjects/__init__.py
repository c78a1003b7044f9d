"""Subject headings: thesauri, and the names of tags in texts."""
