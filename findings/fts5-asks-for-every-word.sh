#!/usr/bin/env bash
# apsw 3.54.1.0 (SQLite's FTS5): a question in a person's words finds nothing; its best result has the lowest score.
#
# Guess:     a full text search ranks what shares words with the question.
# Behaviour: words without an operator are joined by AND, without stop words: a memory that lacks "what" is no result. An
#            apostrophe is a syntax error, a hyphen asks for a column. bm25() is negative, better is lower, so a floor such as
#            `bm25(m) > 0.5` or an order by falling score is the wrong way round.
# Output:    "what is my dog called": 0 of 3 memories; "what OR is OR my OR dog OR called": the dog first, with -0.82
# Matters:   many local memories are one FTS5 table. With the question handed on as it is, they find what was said in the
#            question's words and nothing else, which reads as an agent that forgot.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check apsw==3.54.1.0
"$folder/venv/bin/python" - <<'PYTHON'
import apsw

store = apsw.Connection(":memory:")
store.execute("create virtual table memories using fts5(text)")
for text in ("Rex is the name my dog is called by.", "I like cats.", "Elm Street is my street."):
    store.execute("insert into memories values (?)", (text,))

def found(query):
    try:
        return [
            (text, round(score, 2))
            for text, score in store.execute(
                "select text, bm25(memories) from memories where memories match ? order by bm25(memories)", (query,)
            )
        ]
    except apsw.SQLError as error:
        return str(error)

whole = found("what is my dog called")
either = found("what OR is OR my OR dog OR called")
apostrophe = found("my dog's name")
print(f"as asked: {whole}; joined by OR: {either}; an apostrophe: {apostrophe}")
assert whole == [], "changed: it is found"
assert either[0][0].startswith("Rex") and either[0][1] < either[-1][1] <= 0, "changed: scores rise"
assert "syntax error" in apostrophe, "changed: an apostrophe passes"
PYTHON
