"""`rubricate eval`: the figures that a benchmark's own evaluator reports, of one model's responses."""
