"""A pipeline's checks: the gate, the probe and the recheck."""
