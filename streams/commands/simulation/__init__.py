"""Simulated traffic whose truth is known because it was meant: what `simulator.simulate` is made of."""
