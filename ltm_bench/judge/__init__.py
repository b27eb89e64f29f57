"""Judges: the rubric, asking, and calibration. A judge sees single cases, after the conversation, and never a run."""
