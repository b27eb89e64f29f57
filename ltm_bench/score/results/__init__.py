"""One run: its log and side files are folded into verdicts, scores and figures."""
