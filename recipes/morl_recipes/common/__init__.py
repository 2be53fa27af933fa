"""Code that every floor may use: checks, names in messages, safe text output, atomic files, scores."""
