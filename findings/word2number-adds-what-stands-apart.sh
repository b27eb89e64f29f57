#!/usr/bin/env bash
# word2number 1.1: number words anywhere in a sentence become one number, added up.
#
# Guess:     a sentence with two numbers in words is an error, or gives the first of them.
# Behaviour: all number words are kept, everything between them is dropped, and what is left is read as one number. No
#            error is raised and nothing is marked.
# Output:    'thirty one or forty' -> 70
#            'not one of the seven' -> 8
#            'twenty twenty six' -> 406
# Matters:   who reads counts out of replies with it scores numbers that nobody said: an answer that gives two numbers, or
#            denies one, can be right by its sum.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check word2number==1.1
"$folder/venv/bin/python" - <<'PYTHON'
from word2number import w2n

for said, due in {"thirty one or forty": 70, "not one of the seven": 8, "twenty twenty six": 406}.items():
    found = w2n.word_to_num(said)
    print(f"{said!r} -> {found}")
    assert found == due, "changed"
PYTHON
