"""How much tags help to predict words, in links, classes, credit and time: pages/tag-results.md."""
