"""What the commands do: collect, decide, render, with what `candidates.cli` was given."""
