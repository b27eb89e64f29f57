"""Counting stars: small sentences with a count each are scattered over the chat; all counts are wanted in the end.

After Counting-Stars (Song, Zheng and Luo 2024), brought into a conversation: the sky is the conversation itself.
"""

from ltm_bench import Ask, Dice, Script, Tell, scenario, star_counts

SENTENCES = {
    ("en", "searching"): "A little hedgehog looked up and counted {count} ★",
    ("en", "reasoning"): (
        "A little hedgehog looked up and counted {mistake} ★, saw that it had miscounted, tried again, "
        "and this time it was right: {count} ★"
    ),
    ("zh", "searching"): "小刺猬抬头数了数，数到 {count} 颗 ★",
    ("zh", "reasoning"): "小刺猬抬头数到 {mistake} 颗 ★，发现数错了，又数了一遍，这次数对了，是 {count} 颗 ★",
}

QUESTIONS = {
    ("en", "searching"): (
        "Now and then a little hedgehog counted stars. List all the counts that it reached, in any order, as a JSON "
        'object such as {"counts": [1, 2]}. Do not add them up, and write nothing else.'
    ),
    ("en", "reasoning"): (
        "Now and then a little hedgehog counted stars, and corrected itself. List all the right counts, in any order, "
        'as a JSON object such as {"counts": [1, 2]}. Leave the mistaken ones out, do not add up, and write nothing '
        "else."
    ),
    ("zh", "searching"): (
        '聊天中有一只小刺猬不时数星星。请列出它每次数到的星星数，顺序不限，用 JSON 对象回答，例如 {"counts": [1, 2]}。'
        "不要相加，不要写其他内容。"
    ),
    ("zh", "reasoning"): (
        "聊天中有一只小刺猬不时数星星，数错了又改正。请列出所有正确的星星数，顺序不限，"
        '用 JSON 对象回答，例如 {"counts": [1, 2]}。不要列出数错的数，不要相加，不要写其他内容。'
    ),
}

MOST = 1024


def _counts(dice: Dice, stars: int) -> tuple[list[int], list[int]]:
    """Draw counts and mistaken counts: all distinct, at uneven distances, none of them 1 or 2 as in the example.

    Every star has seven numbers to itself. Its count lies in the middle of them, and the mistake one beside it.
    """
    counts, mistakes = [], []
    for i in range(stars):
        count = 7 * i + dice.integer(4, 8)
        counts.append(count)
        mistakes.append(count + dice.choice((-1, 1)))
    return counts, mistakes


FORGET = {
    "en": "The little hedgehog has finished counting. Should it ever begin anew, only its new counts matter.",
    "zh": "小刺猬数完星星了。如果它以后再数，只有新数到的才算。",
}


@scenario(skills={"recall", "aggregation", "coverage"}, topics={"stars"})
def counting_stars(
    dice: Dice, *, stars: int = 8, order: str = "shuffled", task: str = "searching", language: str = "en"
) -> Script:
    """Scatter `stars` counts evenly, `shuffled` or `ordered`; `searching` or `reasoning`; `en` or `zh`."""
    if not 1 <= stars <= MOST:
        raise ValueError(f"stars = {stars}: from 1 to {MOST} are possible")
    if order not in ("shuffled", "ordered"):
        raise ValueError(f"order = {order!r}: it is 'shuffled' or 'ordered'")
    if (language, task) not in SENTENCES:
        raise ValueError(
            f"language = {language!r}, task = {task!r}: they are 'en' or 'zh', and 'searching' or 'reasoning'"
        )
    pairs = list(zip(*_counts(dice, stars), strict=True))
    if order == "shuffled":
        pairs = dice.shuffled(pairs)
    sentence = SENTENCES[language, task]
    for i, (count, mistake) in enumerate(pairs):
        yield Tell(sentence.format(count=count, mistake=mistake), at=i / stars)
    expect = star_counts(
        [count for count, _ in pairs], mistaken=[m for _, m in pairs] if task == "reasoning" else ()
    )
    yield Ask(QUESTIONS[language, task], expect=expect, at=1.0)
    yield Tell(FORGET[language])
