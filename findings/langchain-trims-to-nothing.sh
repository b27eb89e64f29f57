#!/usr/bin/env bash
# langchain-core 1.8.3: trimming a conversation whose last message is too long leaves nothing, not even the question.
#
# Guess:     `trim_messages(strategy="last")` keeps as much of the end as fits, and always the last message; or it raises.
# Behaviour: if the last message alone is above `max_tokens`, the result is an empty list, with `include_system=True` the
#            system message alone; also with `allow_partial=True` where the message has no line break. No warning.
# Output:    by default: []
#            include_system: ['SystemMessage']
#            allow_partial: []
# Matters:   agents trim before each call, and memory tests paste long filler. The model is then asked nothing, answers
#            something polite, and the turn is scored as forgotten.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check langchain-core==1.8.3
"$folder/venv/bin/python" - <<'PYTHON'
import warnings
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, trim_messages
from langchain_core.messages.utils import count_tokens_approximately

warnings.simplefilter("error")
said = [SystemMessage("You remember."), HumanMessage("My door is green."), AIMessage("Noted."),
        HumanMessage("word " * 400 + "Which colour is my door?")]
for name, settings, expected in (
    ("by default", {}, []),
    ("include_system", {"include_system": True}, ["SystemMessage"]),
    ("allow_partial", {"allow_partial": True}, []),
):
    kept = trim_messages(said, max_tokens=100, token_counter=count_tokens_approximately, strategy="last", **settings)
    kinds = [type(message).__name__ for message in kept]
    print(f"{name}: {kinds}")
    assert kinds == expected, "changed"
PYTHON
