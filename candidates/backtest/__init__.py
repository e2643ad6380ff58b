"""The ranker asked this repository's own history, and what is reported of it."""
