"""Pictures and videos of the three worlds."""
