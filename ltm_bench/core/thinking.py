"""What a model says, without what it thinks: servers of models that reason put the thinking before the answer.

The forms are those of public models and servers. Some templates eat the mark that opens a thought, so the one that
closes it is enough.
"""

import re

_NAMES = "think|thinking|thought|reasoning|scratchpad|seed:think"

_OPENS = re.compile(
    rf"<(?:{_NAMES})>|\[THINK\]|◁think▷|<\|channel\|>(?:analysis|commentary)|\A\s*(?-i:analysis(?=[A-Z]))",
    re.IGNORECASE,
)
_CLOSES = re.compile(
    rf"</(?:{_NAMES})>|\[/THINK\]|◁/think▷|<\|channel\|>final<\|message\|>|assistantfinal", re.IGNORECASE
)


def spoken(text: str) -> str:
    """Return a text without its thinking; nothing of one that was cut while thinking, or only thinks."""
    if text.lstrip()[:1] in ("{", "`"):  # JSON, which may quote any mark
        return text
    said = _CLOSES.split(text)[-1]
    if _OPENS.search(said):
        return ""
    return said if said == text else said.strip().removesuffix("<|return|>").removesuffix("<|end|>")
