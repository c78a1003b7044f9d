"""tagtopics: topic models for tagged collections."""
