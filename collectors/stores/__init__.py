"""The files that this program keeps: remembered choices, runs, backtests."""
