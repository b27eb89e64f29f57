"""Matchers: pure functions from text to a verdict, held as frozen data so that an old log can be scored again.

One file holds one matcher, or two that belong together: a frozen dataclass and the function with which a scenario asks
for it. Nothing lists these files; `ltm_bench.plugins.matchers` finds them, and so do the tests that guard all of them.

Every matcher asks of a reply: is it right, is it a value that has been replaced, does it say that it does not know,
can it be read at all? A reply that lists every candidate is not right, nor is an echo of the question.
"""
