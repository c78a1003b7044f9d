"""Numbers of topics, effects, trends and curation: pages/analysis-results.md."""
