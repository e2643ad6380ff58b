"""The person's view of a run or of a saved record: text, Markdown, why and why not, what would decide it."""
