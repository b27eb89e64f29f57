"""How often our verdicts equal the scores that GoodAI published with its LTM Benchmark, scenario by scenario.

    python benchmarks/agreement.py FOLDER [--show]

FOLDER holds their definitions (`definitions-*/<Scenario>/<n>.def.json`) and results, one JSON object a line
(`results-*.jsonl.gz`: scenario, example, actual, score, max_score, …). `--show` prints every reply on which the two
differ. Published scores are not the truth: many were made by a substring match, some were corrected by hand.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from ltm_bench import (
    Matcher,
    Message,
    Reply,
    Turn,
    decodes,
    follows_route,
    item_counts,
    lists_all,
    names_only,
    retells,
    said_in,
    says,
)

CLOSE = 0.02
AT = datetime(2024, 1, 1, tzinfo=UTC)
COLOURS = (
    "Red Green Blue Yellow Orange Purple Pink Brown Black White Grey Cyan Magenta Cream Tan Turquoise Gold Silver"
).split()

Definition = dict[str, Any]
Result = dict[str, Any]


class Asked(NamedTuple):
    """One question of a published result, as our matchers see it."""

    expect: Matcher
    question: str
    replies: Sequence[str]
    """The replies up to the one that is judged."""


def colours(definition: Definition, result: Result, _: Sequence[Definition]) -> Iterator[Asked]:
    """Expect the last colour alone."""
    told = [
        c
        for line in definition["script"][:-1]
        for c in COLOURS
        if re.search(rf"\b{c}\b", line, re.IGNORECASE)
    ]
    yield Asked(
        names_only(told[-1], among=COLOURS, stale=told[:-1]), definition["script"][-1], result["actual"]
    )


def name_list(definition: Definition, result: Result, every: Sequence[Definition]) -> Iterator[Asked]:
    """Expect all the names."""
    among = dict.fromkeys(name for each in every for name in each["expected_responses"])
    yield Asked(lists_all(result["expected"], among=among), definition["script"][-1], result["actual"])


def jokes(definition: Definition, result: Result, _: Sequence[Definition]) -> Iterator[Asked]:
    """Expect one joke, and no other."""
    told = [line for line in definition["script"] if line and result["expected"][0] not in line]
    yield Asked(retells(result["expected"][0], among=told), "", result["actual"])


def locations(definition: Definition, result: Result, _: Sequence[Definition]) -> Iterator[Asked]:
    """Expect the whole way."""
    told = re.findall(r"From (.+?), go (\d+)km (\w+) to (.+?)\.", result["expected"][0])
    legs = [(direction.lower(), int(distance), place) for _, distance, direction, place in told]
    among = [told[0][0], *(place for _, _, place in legs)]
    yield Asked(follows_route(told[0][0], legs, among=among), definition["script"][-1], result["actual"])


def trigger_response(_: Definition, result: Result, every: Sequence[Definition]) -> Iterator[Asked]:
    """Expect the agreed sentence, three times."""
    among = {phrase for each in every for phrase in each["expected_responses"]}
    for phrase, reply in zip(result["expected"], result["actual"], strict=False):
        yield Asked(says(phrase, among=sorted(among)), "", [reply])


def sally_anne(definition: Definition, result: Result, _: Sequence[Definition]) -> Iterator[Asked]:
    """Expect one place of the story."""
    told = re.findall(r"\bthe (\w+)", " ".join(definition["script"][1:-1]))
    among = dict.fromkeys([*told, *result["expected"]])
    yield Asked(names_only(result["expected"][0], among=among), definition["script"][-1], result["actual"])


def shopping(definition: Definition, result: Result, _: Sequence[Definition]) -> Iterator[Asked]:
    """Expect things and amounts."""
    expected = result["expected"] if isinstance(result["expected"][0][0], str) else result["expected"][0]
    yield Asked(item_counts(dict(expected), among=dict(expected)), definition["script"][-1], result["actual"])


def spy_meeting(definition: Definition, result: Result, every: Sequence[Definition]) -> Iterator[Asked]:
    """Expect three messages to be decoded."""
    groups: dict[str, dict[str, Sequence[str]]] = {}
    for each in every:
        for line, words in zip(each["script"][1:4], each["expected_responses"], strict=True):
            groups.setdefault(_about(line), {})[words[0]] = words
    meant = {
        _about(line): words[0]
        for line, words in zip(definition["script"][1:4], result["expected"], strict=True)
    }
    for line, words in zip(definition["script"][1:4], result["expected"], strict=True):
        groups[_about(line)][words[0]] = words
    yield Asked(decodes(meant, groups), definition["script"][-1], result["actual"])


def _about(line: str) -> str:
    return "what" if re.search(r"\bbring\b", line, re.IGNORECASE) else "when" if "time" in line else "where"


def prospective_memory(_: Definition, result: Result, every: Sequence[Definition]) -> Iterator[Asked]:
    """Expect the quotation in the n-th reply. What came after that is not known of every result: nothing, then."""
    quotation, _author, nth = result["expected"][0]
    yield Asked(said_in(quotation, nth), "", [*result.get("replies_after_request", [])[:nth], ""])


READERS: dict[str, Callable[[Definition, Result, Sequence[Definition]], Iterator[Asked]]] = {
    "Colours": colours,
    "NameList": name_list,
    "Jokes": jokes,
    "Locations Directions": locations,
    "Prospective Memory": prospective_memory,
    "SallyAnne": sally_anne,
    "Shopping": shopping,
    "Spy Meeting": spy_meeting,
    "Trigger Response": trigger_response,
}


def ours(asked: Sequence[Asked]) -> tuple[float, str]:
    """Return the mean of our scores, and our reasons."""
    verdicts = []
    for expect, question, replies in asked:
        turns = [Turn(Message(question, AT, i), Reply(str(text))) for i, text in enumerate(replies)]
        verdicts.append(expect.verdict(turns[-1].reply.text if turns else "", turns))
    reasons = "; ".join(dict.fromkeys(f"{v.outcome}: {v.reason}" for v in verdicts))
    return sum(v.score or 0.0 for v in verdicts) / max(len(verdicts), 1), reasons


def main() -> None:
    """Compare and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--show", action="store_true", help="print every reply on which the two differ")
    args = parser.parse_args()
    definitions: dict[tuple[str, str, str], Definition] = {}
    for path in sorted(args.folder.glob("definitions-*/*/*.def.json")):
        benchmark = path.parts[-3].removeprefix("definitions-")
        definitions[benchmark, path.parts[-2], path.name.partition(".")[0]] = json.loads(
            path.read_text("utf-8")
        )
    if not definitions:
        raise SystemExit(f"{args.folder}: there is no definitions-*/<Scenario>/<n>.def.json in it")
    counted = dict.fromkeys(READERS, (0, 0))
    for path in sorted(args.folder.glob("results-*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                result: Result = json.loads(line)
                name = result["scenario"]
                if name not in READERS:
                    continue
                known = {key: value for key, value in definitions.items() if key[1] == name}
                definition = known.get((result["benchmark"], name, result["example"]))
                definition = definition or next(v for k, v in known.items() if k[2] == result["example"])
                asked = list(READERS[name](definition, result, list(known.values())))
                score, reasons = ours(asked)
                published = result["score"] / (result["max_score"] or 1)
                n, equal = counted[name]
                same = abs(score - published) <= CLOSE
                counted[name] = (n + 1, equal + same)
                if args.show and not same:
                    by_hand = ", by hand" if result["manually_revised"] else ""
                    print(f"{name} {result['example']} ({result['agent']})")
                    print(f"    published {published:.2f}{by_hand}, ours {score:.2f}")
                    print(f"    we say   {reasons[:300]}")
                    print(f"    expected {str(result['expected'])[:300]}")
                    print(f"    reply    {str(result['actual'])[:600]!r}")
    print(f"{'scenario':<22} {'n':>5} {'equal':>6} {'share':>7}")
    for name, (n, equal) in counted.items():
        print(f"{name:<22} {n:>5} {equal:>6} {equal / max(n, 1):>7.1%}")
    n, equal = (sum(each) for each in zip(*counted.values(), strict=True))
    print(f"{'all':<22} {n:>5} {equal:>6} {equal / max(n, 1):>7.1%}")


if __name__ == "__main__":
    main()
