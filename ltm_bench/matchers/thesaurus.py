"""Synonyms of the words in scenarios, and compounds that mean something else.

A scenario lists the words that express a meaning in its own puzzle. What any speaker of English would call an hour, a
place or a thing is here, so that no scenario needs to repeat it.
"""

from collections.abc import Iterable

_SAME: tuple[frozenset[str], ...] = tuple(
    frozenset(each.split("|"))
    for each in (
        "midnight|12 am|12am|twelve at night|dead of night|middle of the night|the witching hour|"
        "stroke of twelve at night",
        "dawn|sunrise|daybreak|first light|sunup|sun up|crack of dawn|cockcrow|cock crow|early morning|break of day|"
        "sun rises|sun comes up|early in the morning|rooster crows|when the rooster crows",
        "noon|midday|mid-day|12 pm|12pm|lunchtime|lunch time|high noon|middle of the day|noontime",
        "dusk|sunset|sundown|nightfall|twilight|sun sets|sun goes down|gloaming|as it gets dark|evening twilight|"
        "early evening|sun set|when it gets dark",
        "sunday",
        "harbour|harbor|port|dock|pier|quay|marina|wharf|docks|quayside|harbourside|waterfront|jetty|seaport|dockside",
        "library|public library|reading room",
        "station|railway|railway station|train station|platform|train platform|rail station|railroad station|"
        "railway terminus|train terminal|terminus|end of the line",
        "church|cathedral|chapel|belfry|bell tower|churchyard|steeple|parish church|church bench|pew|church pew",
        "bakery|baker|bakehouse|bakeshop|baker's|baker's shop|bread shop",
        "umbrella|parasol|brolly",
        "rope|cord|lasso|cordage",
        "lantern|torch|flashlight|lamp|candle|light|light source|source of light|headlamp",
        "mirror|looking glass|hand mirror|looking-glass",
        "camera|photo camera|digital camera",
    )
)

_DROPPED = {"library": ("bookshop", "bookstore"), "lantern": (), "station": ("train",)}
"""Words that earlier scenarios listed for a meaning but that mean something else."""

OTHER_THINGS = frozenset(
    tuple(each.split())
    for each in (
        "police station|fire station|gas station|petrol station|bus station|service station|power station|"
        "radio station|"
        "weather station|space station|polling station|rope ladder|rope bridge|port wine|candle holder|lamp post|"
        "traffic light|light bulb|light snack|light jacket|camera bag|camera shop|usb port|airport"
    ).split("|")
)
"""Pairs of words that name something other than either word does."""


def ways(meaning: str, keywords: Iterable[str]) -> tuple[str, ...]:
    """Return all ways to express a meaning: its keywords, and what means the same as its name."""
    folded = meaning.lower()
    same = next((each for each in _SAME if folded in each), frozenset())
    dropped = _DROPPED.get(folded, ())
    return tuple(dict.fromkeys([*(k for k in keywords if k not in dropped), *sorted(same)]))
