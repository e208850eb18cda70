"""The plots: what a command does, step by step, with clock, device, files and git handed in."""
