"""From the log of a run to what people read: verdicts, results, and the page. Reads the run folder and nothing else."""
