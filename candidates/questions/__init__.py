"""Questions to a person: what they hold, and how a host or this terminal puts them."""
