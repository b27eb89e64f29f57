"""Tally: hundreds of sightings in a bird diary, a few at a time; then a count, the commonest bird, the better month.

After OOLONG (Bertsch et al. 2025): every question needs the whole diary. A count that is off by n earns 0.75 ** n.
The texts are in `tally.json`.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import cycle

from ltm_bench import Ask, Dice, Script, Tell, content, names_only, scenario, tallies

BIRDS = (
    "blackbird", "bullfinch", "buzzard", "chaffinch", "coot", "cormorant", "crossbill", "crow", "curlew", "dove",
    "dunnock", "egret", "goldcrest", "goldfinch", "grebe", "greenfinch", "gull", "heron", "jackdaw", "jay", "kestrel",
    "kingfisher", "lapwing", "linnet", "magpie", "mallard", "moorhen", "nuthatch", "owl", "partridge", "pheasant",
    "pigeon", "pipit", "plover", "raven", "robin", "rook", "siskin", "skylark", "sparrow", "starling", "swan",
    "thrush", "treecreeper", "wagtail", "woodcock", "woodpecker", "wren", "yellowhammer",
)  # fmt: skip

GARDENS = (
    "the vicarage garden", "the towpath", "the quarry pond", "the old cemetery", "the reservoir", "the golf course",
    "the beech wood", "the allotments", "the salt marsh", "the castle moat", "the sewage works", "the orchard",
    "the school playing field", "the disused railway", "the heath", "the harbour wall", "the water meadows",
    "the botanical garden", "the gravel pit", "the vineyard", "the hospital park", "the sheep pasture",
    "the island in the lake", "the rubbish tip",
)  # fmt: skip

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip

NUMBERS = {1: "one", 2: "two", 3: "three"}
MESSAGES: Mapping[str, tuple[str, ...]] = content(__file__)["messages"]


def _plural(bird: str) -> str:
    if bird.endswith("y") and bird[-2] not in "aeiou":
        return f"{bird[:-1]}ies"
    return f"{bird}es" if bird.endswith(("sh", "ch", "s")) else f"{bird}s"


def _seen(counts: list[tuple[str, int]]) -> str:
    parts = [f"{NUMBERS[n]} {bird if n == 1 else _plural(bird)}" for bird, n in counts]
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def _made_clear(diary: list[list[tuple[str, int]]], half: int, kinds: list[str]) -> str:
    """Let one miscount change neither the commonest bird nor the month in which the returned one was seen more."""
    (first, _), (rival, _) = _total(diary).most_common(2)
    for page in reversed(diary):
        if _total(diary)[first] - max(n for bird, n in _total(diary).items() if bird != first) >= 2:
            break
        page[:] = [(bird, n) for bird, n in page if bird != first] + [(first, 3)]
    compared = max(
        (kind for kind in kinds if kind not in (first, rival)),
        key=lambda kind: (abs(_total(diary[:half])[kind] - _total(diary[half:])[kind]), kinds.index(kind)),
    )
    for page in diary[half:]:
        if _total(diary[half:])[compared] - _total(diary[:half])[compared] not in (-1, 0, 1):
            break
        page[:] = [(bird, n) for bird, n in page if bird != compared] + [(compared, 3)]
    return compared


@scenario(
    skills={"aggregation", "counting", "arithmetic"},
    topics={"the bird diary"},
    forget=MESSAGES["forget"],
    version=3,
    decoys={},
)
def tally(
    dice: Dice,
    *,
    span: int = 0,
    pages: int = 0,
    birds: tuple[str, ...] = BIRDS,
    gardens: tuple[str, ...] = GARDENS,
) -> Script:
    """Read out pages of a diary over the span, and ask about all of them together.

    Args:
        dice: The example's.
        span: Of the run, which the run fills in.
        pages: Number of pages; 0 for one per 400 tokens of the span, between 8 and 60.
        birds: The birds that may be seen.
        gardens: Where they may be seen.
    """
    if pages < 0 or 0 < pages < 4:
        raise ValueError(f"pages = {pages}: 4 or more, or 0")
    pages = pages or min(60, max(8, span // 400))
    kinds = dice.hand("birds", birds, 6)
    garden = dice.card("garden", gardens)
    one, other = sorted(dice.hand("months", MONTHS, 2), key=MONTHS.index)
    # Some birds are common and some are rare, so that one is seen most often.
    often = [kind for i, kind in enumerate(kinds) for _ in range(i + 1)]
    diary: list[list[tuple[str, int]]] = []
    for _ in range(pages):
        seen = list(dict.fromkeys(dice.sample(often, 7)))[: dice.integer(3, 4)]
        diary.append([(bird, dice.integer(1, 3)) for bird in seen])
    half = (pages + 1) // 2
    compared = _made_clear(diary, half, kinds)
    total = _total(diary)
    (first, _), *_ = total.most_common(1)
    early, late = (_total(part)[compared] for part in (diary[:half], diary[half:]))
    counted = dice.choice(
        [kind for kind in kinds[2:5] if total[kind] and kind not in (compared, first)] or [first]
    )
    for i, (page, text) in enumerate(zip(diary, cycle(dice.shuffled(MESSAGES["page"])), strict=False)):
        month = one if i < half else other
        yield Tell(text.format(garden=garden, month=month, seen=_seen(page)), at=i / pages)
    yield Ask(
        dice.choice(MESSAGES["counted"]).format(garden=garden, birds=_plural(counted)),
        expect=tallies(total[counted]),
        at=1.0,
    )
    yield Ask(dice.choice(MESSAGES["most"]).format(garden=garden), expect=names_only(first, among=kinds))
    yield Ask(
        dice.choice(MESSAGES["compared"]).format(
            garden=garden, birds=_plural(compared), one=one, other=other
        ),
        expect=names_only(one if early > late else other, among=(one, other)),
    )


def _total(diary: Sequence[Sequence[tuple[str, int]]]) -> Counter[str]:
    """Return how many of each bird are on these pages."""
    found = Counter[str]()
    for page in diary:
        for bird, n in page:
            found[bird] += n
    return found
