"""What every floor may use: checks, names in messages, text that leaves the program, atomic files, scores."""
