"""Builds ``libfused_o_proj.so`` for setup.py: settings, toolchain, cached commands, facts."""
