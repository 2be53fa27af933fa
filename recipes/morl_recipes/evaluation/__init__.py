"""Play policies on whole episodes. Knows environments and, of learning, the policy network; no files."""
