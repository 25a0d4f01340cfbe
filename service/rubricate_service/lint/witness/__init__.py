"""Witnesses: responses built to pass all checks of a group, which prove that one can."""
