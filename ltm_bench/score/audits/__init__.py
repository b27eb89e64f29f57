"""Verdicts on replies: by matchers, judges and people; how well these agree, and how often matchers err."""
