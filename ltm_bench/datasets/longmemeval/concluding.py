"""What a reply concludes with, where it says so: `Final answer: …`, in a line of its own or as a heading."""

from ltm_bench.matchers.reading import Form, read, words

_LABELS = ("answer", "conclusion")
_MOST = 6
"""Maximum words of a label: `step 4 - final answer`."""


def conclusion(reply: str) -> str:
    """Return what stands behind the last label such as `Final answer:`; nothing if there is no such label."""
    blocks = read(reply).blocks
    for place, block in reversed(list(enumerate(blocks))):
        label, sign, rest = block.text.partition(":")
        said = words(label)
        if (sign or block.form is Form.HEADING) and said[-1:] and said[-1] in _LABELS and len(said) <= _MOST:
            return "\n".join((rest, *(each.text for each in blocks[place + 1 :]))).strip()
    return ""
