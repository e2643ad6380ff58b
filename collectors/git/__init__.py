"""git: the repository, its refs, the remote's answer, and the history."""
