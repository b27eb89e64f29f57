"""Lists of words that are compared with what is said; they are data, `core/tables/words.json`."""

import json
from functools import cache
from importlib.resources import files


@cache
def _shipped() -> dict[str, list[str]]:
    shipped: dict[str, list[str]] = json.loads(
        files("ltm_bench.core").joinpath("tables/words.json").read_text("utf-8")
    )
    return shipped


def listed(name: str, sign: str | None = None) -> list[str]:
    """Return a list by its name: what stands between blanks, or between a sign.

    - `american`: American words and the British ones that mean the same, without those of several meanings (`chips`)
    - `other names`: what is called otherwise in America, or in the language of the place, each with its other names
    - `light`: words that say nothing beside a value: a sentence of them and one value is that value alone
    - `common`: further words of talk that are never an answer
    - `function`: words of grammar, which may differ where something is said word for word
    - `openers`: words that open another clause
    - `own`: who speaks, is spoken to, or is nobody in particular
    - `loose`: words beside a part of a name that make no other name of it
    - `foreign`: German, French, Spanish and Italian words that tell the language of a reply
    - `meanings`: what any speaker of English calls an hour, a place or a thing, so that no scenario needs to repeat it
    - `other things`: what is named with a word for a meaning, or was once listed for one, but is something else
    - `giveaways`: what tells a private matter without its name: words, or several that stand anywhere in a reply
    - `cues`: what tells how something is meant: its effect, what it reaches, and its phrases
    - `knowing`, `unknown`, `kept back`, `refused`: patterns of what says that something is not known, or not told
    - `out of role`, `mismatch`, `content`, `ordered`: patterns of what no guest says, and of what one does
    - `not ordered`: how what was not ordered goes on
    - `carried`, `reporting`: patterns of what is done with the words of others
    - `alleged`, `conflict`: patterns of what says that two things were told
    - `not there`, `leaving`, `never`: patterns of what says that something is gone, or never has
    - `conditions`, `nobody knows`: patterns of what depends on something, and of what is known to nobody
    - `order`, `reported`, `refusing`: patterns of what speaks of a sentence instead of saying it
    - `range`, `rough`, `counted`: patterns of a range or a bound, of an estimate, and of what a number announces
    - `telling`: words of many jokes, by which none is known
    - `units`: words that name no thing on a shopping list: measures, packages, articles
    - `ones`, `ordinals`, `days`, `months`: in their order
    """
    return (sign or " ").join(_shipped()[name]).split(sign)


def alternatives(name: str) -> str:
    """Return a list of patterns as one, of any of them."""
    return "|".join(_shipped()[name])
