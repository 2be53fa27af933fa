"""R runs trained as one batch: stacked networks, rollouts, targets and the update. The runs stay independent."""
