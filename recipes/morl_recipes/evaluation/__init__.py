"""Evaluate policies on whole episodes. Depends on environments and the policy network; reads and writes no files."""
