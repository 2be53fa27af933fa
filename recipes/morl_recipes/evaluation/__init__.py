"""Play policies on whole episodes and score them. Takes from learning the policy network only."""
