"""The last runs: the journal that keeps them, and the ring that is read."""
