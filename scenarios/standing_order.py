"""Standing order: the user gives an order once; the agent must follow it from then on, but not for somebody else.

The choice for somebody else counts only if the agent followed the order, since it takes no memory.
The orders are in `standing_order.json`.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ltm_bench import Ask, Dice, Script, Tell, names_only, scenario

ORDERS: tuple[Mapping[str, Any], ...] = tuple(
    json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
)
"""An order; a choice to which it applies, one to which it does not, and the right option for each."""

FORMS = (
    "Just name it, without giving reasons.",
    "Name one of them and nothing else.",
    "One of the four, please, and no explanation.",
)
FORGET = "That wish of mine no longer matters. From here on, only what I say from now on counts."


@scenario(skills={"instruction", "preference"}, topics={"a standing order"}, forget=FORGET)
def standing_order(dice: Dice, *, orders: tuple[Mapping[str, Any], ...] = ORDERS) -> Script:
    """Give an order; much later, ask for something to which it applies, and for something to which it does not."""
    order = dice.card("order", orders)
    yield Tell(order["order"], at=0.0)
    options = dice.shuffled(order["options"])
    named = f"{', '.join(options[:-1])} or {options[-1]}"
    known = f"the order “{order['order']}”"
    yield Ask(
        f"{order['asked'].format(options=named)} {dice.choice(FORMS)}",
        expect=names_only(order["right"], among=options),
        at=0.7,
        shows=known,
    )
    options = dice.shuffled(options)
    named = f"{', '.join(options[:-1])} or {options[-1]}"
    yield Ask(
        f"{order['other'].format(options=named)} {dice.choice(FORMS)}",
        expect=names_only(order["theirs"], among=options),
        at=1.0,
        needs=known,
    )
