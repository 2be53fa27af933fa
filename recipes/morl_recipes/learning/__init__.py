"""R runs as one batch: stacked networks, rollouts, targets and the update, each run as if it were alone."""
