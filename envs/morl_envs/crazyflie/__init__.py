"""Quadrotor environments with random opponents: frogger (one drone, two lanes) and formation (three drones)."""
