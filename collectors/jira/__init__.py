"""Jira: its issues with what is around them, and the one comment."""
