"""Quadrotor flights among random agents: frogger (one drone, two lanes) and formation (three drones)."""
