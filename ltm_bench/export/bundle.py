"""A run as one file that can be passed on: manifest, log, verdicts and pages in a zip, with their hashes, and checked.

Hashes show that a bundle is whole, not who made it: whoever can change a reply can change the hashes too. That is why
checking also counts every token again and scores every reply again.
"""

from __future__ import annotations

import hashlib
import json
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from pydantic import ValidationError

from ltm_bench.core.errors import NotVerified
from ltm_bench.core.tokens import counter
from ltm_bench.log.events import Replied, Sent
from ltm_bench.log.reader import conversations, log_digest, read_events, read_manifest
from ltm_bench.report.page import counted
from ltm_bench.score.fold import score_run
from ltm_bench.score.results import Results

SUMS = "SHA256SUMS"
"""The file of hashes in a bundle, in the form that `sha256sum --check` reads."""

REMOVED = "[removed]"
"""What stands in the place of a secret."""

LARGEST = 4 << 30
"""Bytes that a bundle may unpack to."""

_KEYS = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|hf|ghp|gho|ghs|glpat|xox[abprs])[-_][A-Za-z0-9_-]{16,}"
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bAIza[A-Za-z0-9_-]{30,}|\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,}"
    r"|(?<=[Bb]earer )[A-Za-z0-9._~+/=-]{16,}|(?<=://)[^/\s:@\"]+:[^/\s@\"]+(?=@)"
)


def scrub(text: str, secrets: Iterable[str]) -> tuple[str, int]:
    """Return a text without secrets, and how many were removed.

    Args:
        text: Of a file, as it is.
        secrets: What must not be in it; what looks like a key of a known provider is removed in any case.
    """
    found = 0
    for secret in sorted({form for s in secrets for form in (s, json.dumps(s)[1:-1])}, key=len, reverse=True):
        found += text.count(secret)
        text = text.replace(secret, REMOVED)
    text, more = _KEYS.subn(REMOVED, text)
    return text, found + more


def pack(run: Path, target: Path) -> None:
    """Write a run's files into a zip, with `manifest.json` and the hashes of all. Equal runs give equal bytes."""
    manifest = json.dumps(read_manifest(run).model_dump(mode="json"), indent=1).encode() + b"\n"
    contents = {path.relative_to(run).as_posix(): path.read_bytes() for path in files(run)}
    contents["manifest.json"] = manifest
    sums = [f"{hashlib.sha256(contents[name]).hexdigest()}  {name}\n" for name in sorted(contents)]
    contents[SUMS] = "".join(sums).encode()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(contents):
            archive.writestr(
                zipfile.ZipInfo(f"{run.name}/{name}"), contents[name], zipfile.ZIP_DEFLATED, compresslevel=9
            )


def files(run: Path) -> list[Path]:
    """Return the files of a run that others may see: not the agent's own state, nor what is half written."""
    kept = (".jsonl", ".json", ".html", ".toml")
    found = [*run.iterdir(), *(run / "isolated").glob("*.jsonl")]
    return sorted(p for p in found if p.is_file() and p.suffix in kept and not p.name.startswith("."))


def unpack(bundle: Path, into: Path) -> Path:
    """Unpack a bundle, check its hashes, and return the run's folder. Raises NotVerified."""
    try:
        with zipfile.ZipFile(bundle) as archive:
            entries = archive.infolist()
            paths = [PurePosixPath(entry.filename) for entry in entries]
            if any(path.is_absolute() or ".." in path.parts or "\\" in str(path) for path in paths):
                raise NotVerified(f"{bundle}: holds a file outside of its folder; this is no bundle of a run")
            if sum(entry.file_size for entry in entries) > LARGEST:
                raise NotVerified(f"{bundle}: would unpack to more than {LARGEST >> 30} GiB")
            if len({path.parts[0] for path in paths}) != 1:
                raise NotVerified(f"{bundle}: holds no run, or several; make it anew with `ltm-bench bundle`")
            archive.extractall(into)
    except zipfile.BadZipFile as error:
        raise NotVerified(f"{bundle}: {error}; it is damaged, or no bundle") from error
    run = into / paths[0].parts[0]
    _check_sums(bundle, run)
    return run


def _check_sums(bundle: Path, run: Path) -> None:
    if not (run / SUMS).is_file():
        raise NotVerified(f"{bundle}: has no {SUMS}; make it anew with `ltm-bench bundle`")
    lines = (run / SUMS).read_text("utf-8", "replace").splitlines()
    stated = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    there = {p.relative_to(run).as_posix(): p for p in run.rglob("*") if p.is_file() and p.name != SUMS}
    if stated.keys() != there.keys():
        raise NotVerified(f"{bundle}: {min(stated.keys() ^ there.keys())} is missing, or not in {SUMS}")
    for name, path in there.items():
        if (digest := hashlib.sha256(path.read_bytes()).hexdigest()) != stated[name]:
            raise NotVerified(f"{bundle}: {name} was changed: its SHA-256 is {digest}, not {stated[name]}")


class Verified(NamedTuple):
    """What was checked and agrees."""

    results: Results
    verdicts: int
    texts: int
    """Messages and replies whose tokens were counted again."""


def verify(run: Path) -> Verified:
    """Score a run again and compare. Raises NotVerified with the first thing that does not agree."""
    stated = _stated(run)
    if stated.log and stated.log != (digest := log_digest(run)):
        raise NotVerified(
            f"{run.name}: the event log is not the one that was scored (SHA-256 {digest} now, {stated.log} then): "
            "a message or a reply was changed, or more was said since; `ltm-bench rescore` scores it as it is now"
        )
    texts = _count_again(run)
    found = score_run(run, references=stated.references)
    differing = list(_differences(stated, found))
    verdicts = _verdicts(run)
    ours = {
        (example.id, question.turn): (question.outcome.value, question.score)
        for example in found.examples
        for question in example.questions
    }
    for key in dict.fromkeys((*verdicts, *ours)):
        if verdicts.get(key) != ours.get(key):
            differing.append(
                f"{key[0]} turn {key[1]}: {verdicts.get(key)} in verdicts.jsonl, {ours.get(key)} now"
            )
    if differing:
        more = f" (and {len(differing) - 3} more)" if len(differing) > 3 else ""
        raise NotVerified(f"{run.name}: scored again it does not agree: {'; '.join(differing[:3])}{more}")
    return Verified(found, len(ours), texts)


def _stated(run: Path) -> Results:
    try:
        return Results.model_validate_json((run / "results.json").read_bytes())
    except FileNotFoundError as error:
        raise NotVerified(
            f"{run.name}: has no results.json to be checked; write it with `ltm-bench rescore`"
        ) from error
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(map(str, problem["loc"]))
        raise NotVerified(f"{run.name}: results.json cannot be read: {where}: {problem['msg']}") from error


def _count_again(run: Path) -> int:
    count = counter(read_manifest(run).tokenizer).count
    texts = 0
    for path in conversations(run):
        for event in read_events(path):
            if not isinstance(event, Sent | Replied):
                continue
            text = event.message if isinstance(event, Sent) else event.reply
            if REMOVED in text:
                continue
            texts += 1
            if (tokens := count(text)) != event.tokens:
                raise NotVerified(
                    f"{path.name}: the text of turn {event.turn} ({event.event}) has {tokens} tokens, "
                    f"the log says {event.tokens}: it was changed"
                )
    return texts


def _differences(stated: Results, found: Results) -> Iterator[str]:
    then_by, now_by = ({e.id: e for e in each.examples} for each in (stated, found))
    for name in dict.fromkeys((*then_by, *now_by)):
        then, now = then_by.get(name), now_by.get(name)
        if then is None or now is None:
            yield f"{name}: {'not in results.json' if then is None else 'not in the log'}"
        elif not _same(then.score, now.score):
            yield f"{name}: {then.score} in results.json, {now.score} now{_other_scorers(then, now)}"
    for field in ("complete", "score", "score_so_far", "out_of", "turns", "tokens", "outcomes"):
        before, after = getattr(stated, field), getattr(found, field)
        if not _same(before, after):
            yield f"{field}: {_spelt(before)} in results.json, {_spelt(after)} now"


def _spelt(value: Any) -> str:
    return counted(value) if isinstance(value, dict) else str(value)


def _other_scorers(then: Any, now: Any) -> str:
    pairs = zip((q.scorer for q in then.questions), (q.scorer for q in now.questions), strict=False)
    changed = dict.fromkeys(f"{a}, here {b}" for a, b in pairs if a != b)
    return f" (scored with {'; '.join(changed)})" if changed else ""


def _same(then: Any, now: Any) -> bool:
    if isinstance(then, float) and isinstance(now, float):
        return abs(then - now) < 1e-9
    return bool(then == now)


def _verdicts(run: Path) -> Mapping[tuple[str, int | None], tuple[str, float | None]]:
    try:
        records = [json.loads(line) for line in (run / "verdicts.jsonl").read_bytes().splitlines()]
        return {(r["example"], r["turn"]): (r["outcome"], r["score"]) for r in records}
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise NotVerified(
            f"{run.name}: verdicts.jsonl cannot be read: {error}; write it with `ltm-bench rescore`"
        ) from error
