"""How two manifests differ, in words. Values are those of the manifests' `identity()`."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_MOST_NAMES = 3
"""Maximum number of scenario names per line."""

_LONGEST = 60
"""Maximum characters of a value shown."""

_OF_ENTRY = {
    "hash": "the file of the scenario {name} has changed",
    "version": "the scenario {name} has a different version",
    "scenario": "{name} plays a different scenario",
}

_WORDS = {
    "format": "the format of the log",
    "agent.name": "the agent",
    "agent.adapter": "the adapter",
    "agent.free": "whether the agent is free",
    "filler.mode": "who answers filler",
    "filler.source": "the source of filler",
    "filler.max_tokens": "tokens of the longest filler message",
    "suite.name": "the suite",
    "suite.isolated": "isolated",
    "suite.start": "the benchmark's time of the first message",
    "suite.stagger": "stagger",
    "suite.opening": "the opening message",
}

_CHANGED = {
    "agent.hash": "the adapter's file has changed",
    "filler.digest": "the filler's questions have changed",
}


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Return one line per difference between an existing run (`old`) and the requested one (`new`)."""
    found = list(_scenarios(_entries(old), _entries(new)))
    for path, (there, now) in _changes(_rest(old), _rest(new)).items():
        if path in _CHANGED:
            found.append(_CHANGED[path])
        else:
            what = _WORDS.get(path, path.removeprefix("suite.").replace("agent.settings.", "setting "))
            found.append(_line(what, there, now))
    return found


def _entries(manifest: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return {entry["name"]: entry for entry in manifest["suite"]["scenarios"]}


def _rest(manifest: Mapping[str, Any]) -> dict[str, Any]:
    return {**manifest, "suite": {key: v for key, v in manifest["suite"].items() if key != "scenarios"}}


def _scenarios(old: Mapping[str, Mapping[str, Any]], new: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    yield from _names(list(old), list(new))
    shared = [name for name in old if name in new]
    counts = {(old[name]["examples"], new[name]["examples"]) for name in shared}
    for name in shared:
        there, now = old[name]["examples"], new[name]["examples"]
        if there != now and len(counts) > 1:
            yield _line(f"examples of {name}", there, now)
        yield from _scenario(name, old[name], new[name])
    for there, now in counts if len(counts) == 1 else ():
        if there != now:
            yield _line("examples", there, now)


def _names(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    gone, added = [n for n in old if n not in new], [n for n in new if n not in old]
    if gone and added and len(gone) == len(old):
        yield f"scenarios: {_some(gone)} there, {_some(added)} now"
    elif gone or added:
        if gone:
            yield f"scenarios only there: {_some(gone)}"
        if added:
            yield f"scenarios only now: {_some(added)}"
    elif old != new:
        yield "the order of the scenarios has changed"


def _scenario(name: str, there: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """Yield how a scenario differs, apart from the number of its examples."""
    for key, words in _OF_ENTRY.items():
        if there.get(key) != now.get(key):
            yield words.format(name=name)
            break  # a changed file explains the changed version
    for key, (before, after) in _changes(there["parameters"], now["parameters"]).items():
        if key == "digest":
            yield f"the files that the scenario {name} reads have changed"
        else:
            yield _line(f"{name}.{key}", before, after)


_UNSET = object()


def _changes(
    old: Mapping[str, Any], new: Mapping[str, Any], where: str = ""
) -> dict[str, tuple[object, object]]:
    """Return the differing values, by their path in both."""
    found: dict[str, tuple[object, object]] = {}
    for key in dict.fromkeys((*old, *new)):
        a, b, path = old.get(key, _UNSET), new.get(key, _UNSET), f"{where}{key}"
        if isinstance(a, Mapping) and isinstance(b, Mapping):
            found |= _changes(a, b, f"{path}.")
        elif a != b:
            found[path] = (a, b)
    return found


def _line(what: str, there: object, now: object) -> str:
    a, b = _spelt(there), _spelt(now)
    return f"{what} differs" if a == b else f"{what}: {a} there, {b} now"


def _spelt(value: object) -> str:
    if value is _UNSET or value is None:
        return "not set"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_spelt(item)}" for key, item in value.items())[:_LONGEST] or "nothing"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(map(_spelt, value))[:_LONGEST] or "nothing"
    return f"{value!s:.{_LONGEST}}"


def _some(names: Sequence[str]) -> str:
    rest = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {rest} more" if rest > 0 else "")
