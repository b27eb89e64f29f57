"""A scripted model for Letta Code, which keeps what it hears in a memory file through its shell."""

from collections.abc import Sequence

from ltm_bench.adapters.testing import Said
from ltm_bench.adapters.testing.remembering import call, facts_in, nearest, newest, told_before

WRITE = """cd "$MEMORY_DIR" && {{
[ -f notes.md ] || printf '%s\\n' --- 'name: Notes' 'description: Told.' --- > notes.md
}}
cat >> notes.md <<'END'
{lines}
END
git add notes.md && git commit -q -m Notes && echo kept"""
"""Letta's own hook refuses a memory file without this head."""


def keep_notes(messages: Sequence[Said]) -> str:
    """Write the user's sentences into a memory file and commit it; quote from it, or from the conversation."""
    asked, answers = newest(messages)
    told, question = facts_in(asked), asked.rpartition("]\n")[2]
    if told and not answers:
        return call("Bash", command=WRITE.format(lines="\n".join(told)), description="Write it down")
    if "?" not in question:
        return "Noted."
    if len(answers) == bool(told):
        return call("Bash", command='cat "$MEMORY_DIR/notes.md"', description="Look it up")
    return nearest(question, [*answers[-1].splitlines(), *told_before(messages)])
