"""The explorer: `TopicData` in, HTML report or server out."""
