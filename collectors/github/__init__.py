"""GitHub: its issues and pull requests, the repository's branches, and the one comment."""
