"""Linting: what is wrong with a group's rubrics before anything is scored by them."""
