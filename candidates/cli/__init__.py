"""What the commands are called with: typer's declarations, loaded one group at a time, and nothing heavier than typer.

What a command does stands in `candidates.commands`, which is loaded when it is really to be done.
"""
