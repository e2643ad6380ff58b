"""What the commands do: collect, decide, render, with what `candidates.commands` was given."""
