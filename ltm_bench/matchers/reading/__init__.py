"""How a reply is read, once and for all matchers: its structure, its stance, its numbers, and what it leaves open.

Matchers bring a vocabulary and ask questions. Patterns of denial, history, hedging and finality are here, not in
matchers.
"""

from ltm_bench.matchers.reading.abstaining import abstains, gives_example, gives_up, is_foreign
from ltm_bench.matchers.reading.json_values import json_values, last_readable
from ltm_bench.matchers.reading.lexicon import Lexicon, lexicon
from ltm_bench.matchers.reading.mention import Force, Mention, Time
from ltm_bench.matchers.reading.numbers import number
from ltm_bench.matchers.reading.resolving import Decision, resolve
from ltm_bench.matchers.reading.stance import mentions
from ltm_bench.matchers.reading.structure import Block, Form, Reading, read
from ltm_bench.matchers.reading.text import COMMON, READ, answer, flat, known_words, plain, spellings, words

__all__ = [
    "COMMON", "READ", "Block", "Decision", "Force", "Form", "Lexicon", "Mention", "Reading", "Time", "abstains",
    "answer", "flat", "gives_example", "gives_up", "is_foreign", "json_values", "known_words", "last_readable",
    "lexicon", "mentions", "number", "plain", "read", "resolve", "spellings", "words",
]  # fmt: skip
