"""Matchers: pure functions from text to a verdict, stored as frozen data so that an old log can be scored again.

A file holds one matcher, or two that belong together: a frozen dataclass, the function with which a scenario asks for
it, and `EXAMPLES`. No list names these files; `ltm_bench.plugins.matchers` finds them, and so do the tests that guard
every matcher.

Every matcher asks of a reply: is it right, is it a value that has since been replaced, does it admit not knowing, can
it be read at all? A reply that lists every candidate is not right, nor is an echo of the question.
"""
