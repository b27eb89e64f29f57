"""What a reply concludes with, by its label."""

import pytest

from ltm_bench.datasets.longmemeval.scorer import conclusion

TABLE = [
    ("It was red.\n\nFinal answer: blue", "blue"),
    ("It was red.\n\n**Final Answer:** blue", "blue"),
    ("1. **Conclusion:**\n   - It is blue.", "it is blue."),
    ("## Answer\n\nBlue.\n\nThat is all.", "blue.\nthat is all."),
    ("Answer: red\n\nAnswer: blue", "blue"),
    ("To answer: blue", "blue"),
    ("The answer is blue.", ""),
    ("They gave no answer to this that anybody could use: blue", ""),
    ("Blue: that is what you said.", ""),
    ("", ""),
]


@pytest.mark.parametrize(("reply", "end"), TABLE)
def test_the_last_label_tells_where_the_conclusion_begins(reply: str, end: str) -> None:
    assert conclusion(reply) == end
