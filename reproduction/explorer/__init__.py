"""The report beside other explorers, and tasks in it: pages/explorer-comparison.md and explorer-tasks.md."""
