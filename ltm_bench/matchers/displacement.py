"""`displaced`: the reply says how far, and in which directions, one place lies from another."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ltm_bench.core.messages import Matcher, Outcome, Turn, Verdict
from ltm_bench.matchers.reading import abstains, number, plain

_SIGNS = {"north": (0, 1), "south": (0, -1), "east": (1, 1), "west": (1, -1)}
_NUMBER = r"\d{1,6}|zero|no|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty"
_WAY = "north|south|east|west"
_LEG = re.compile(
    rf"\b(?P<amount>{_NUMBER})[\s-]*+(?:kms?|kilomet(?:er|re)s?)?\s*+(?:due |to the |towards? the |further )*+"
    rf"(?P<way>{_WAY})(?:ern|wards?)?\b"
    rf"|\b(?P<first>{_WAY})(?:wards?)?\W{{1,4}}(?:by |for |is |of )?(?P<then>{_NUMBER})\b"
)


@dataclass(frozen=True, slots=True)
class Displaced(Matcher):
    """Right if the reply ends with this distance on each axis; working it out aloud is fine."""

    east: int
    """Kilometres; west is negative."""
    north: int
    """Kilometres; south is negative."""

    def verdict(self, reply: str, turns: Sequence[Turn]) -> Verdict:
        """Judge the distances that the reply ends with."""
        found: dict[int, int] = {}
        for leg in _LEG.finditer(plain(reply)):
            axis, sign = _SIGNS[leg["way"] or leg["first"]]
            found[axis] = sign * (number(leg["amount"] or leg["then"]) or 0)
        if not found:
            if not reply.strip():
                return Verdict(Outcome.MALFORMED, 0.0, "the reply is empty")
            if abstains(reply):
                return Verdict(Outcome.ABSTAINED, 0.0, "the reply says that it does not know")
            return Verdict(Outcome.MALFORMED, 0.0, "the reply gives no distance with a direction")
        said = (found.get(1, 0), found.get(0, 0))
        if said == (self.east, self.north):
            return Verdict(Outcome.CORRECT, 1.0, f"{_spelt(*said)}, as it should be")
        return Verdict(
            Outcome.WRONG, 0.0, f"{_spelt(self.east, self.north)} expected, the reply says {_spelt(*said)}"
        )

    def right(self) -> Sequence[str]:
        """Return the displacement in a sentence, with its axes swapped, and after some working."""
        vertical = f"{abs(self.north)} km {'north' if self.north >= 0 else 'south'}"
        across = f"{abs(self.east)} km {'east' if self.east >= 0 else 'west'}"
        return (
            f"It lies {vertical} and {across}.",
            f"{across}, {vertical}",
            f"First it is 9 km north and then 8 km west, so in all {vertical} and {across}.",
        )

    def wrong(self) -> Sequence[str]:
        """Return the mirrored displacement, another one, and nothing."""
        other = Displaced(-self.east - 1, -self.north - 1)
        return (other.right()[0], f"{abs(self.east) + abs(self.north)} km away", "I do not know.", "")


def _spelt(east: int, north: int) -> str:
    return f"{abs(north)} km {'north' if north >= 0 else 'south'} and {abs(east)} km {'east' if east >= 0 else 'west'}"


def displaced(*, east: int, north: int) -> Displaced:
    """Expect this distance in kilometres; negative numbers lead west and south."""
    return Displaced(east, north)


EXAMPLES: tuple[Matcher, ...] = (displaced(east=-2, north=3), displaced(east=3, north=4))
"""What the tests that guard every matcher are run with."""
