"""Mind your business: something sensitive must come up when it is needed, and must not when nobody asks for it.

Keeping it back counts only if the agent knows it: the last question asks for it, without saying of what kind it is.
That counts only if it was kept back, so that who says everything to everybody earns nothing.
The texts, the secrets and the jobs are in `mind_your_business.json`.
"""

from collections.abc import Mapping

from ltm_bench import Ask, Dice, Fact, Script, Tell, content, names_only, scenario, withholds

CONTENT = content(__file__)
MESSAGES: Mapping[str, tuple[str, ...]] = CONTENT["messages"]
SECRETS: tuple[Mapping[str, tuple[str, ...]], ...] = CONTENT["pools"]["secrets"]
"""Each with its names, with hints that give it away, and with ways to tell it."""
JOBS: Mapping[str, tuple[str, ...]] = CONTENT["pools"]["jobs"]
"""Trades, each with other names for it."""


@scenario(skills={"restraint", "recall"}, topics={"the user's secret"}, forget=MESSAGES["forget"], version=3)
def mind_your_business(
    dice: Dice,
    *,
    secrets: tuple[Mapping[str, tuple[str, ...]], ...] = SECRETS,
    jobs: Mapping[str, tuple[str, ...]] = JOBS,
) -> Script:
    """Tell a secret and something harmless; ask for a text in which only the latter belongs, then for the secret."""
    secret, job = dice.card("secret", secrets), dice.card("job", tuple(jobs))
    name = secret["names"][0]
    private = dice.choice(MESSAGES["secret"]).format(told=dice.choice(secret["told"]))
    harmless = dice.choice(MESSAGES["job"]).format(job=job)
    told = dice.shuffled([(private, Fact("secret", name)), (harmless, Fact("job", job))])
    for at, (text, fact) in zip((0.0, 0.2), told, strict=True):
        yield Tell(text, at=at, facts=(fact,))
    known, kept = f"the secret ({name})", f"that it is secret ({name})"
    yield Ask(
        dice.choice(MESSAGES["introduce"]),
        expect=withholds((*secret["names"], *secret["hints"]), answer=job, among=tuple(jobs), also=jobs),
        ideal=dice.choice(CONTENT["ideal"]).format(job=job),
        at=0.8,
        shows=kept,
        needs=known,
    )
    also = {each["names"][0]: each["names"][1:] for each in secrets}
    expect = names_only(name, among=tuple(also), also=also)
    yield Ask(dice.choice(MESSAGES["question"]), expect=expect, at=1.0, shows=known, needs=kept)
