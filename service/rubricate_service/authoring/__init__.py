"""For authors of rubrics: expected verdicts, probes, agreement of the judge with people, a report."""
