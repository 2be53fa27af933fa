"""Pictures and videos of the three torch environments."""
