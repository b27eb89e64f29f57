"""Styles in which a language model might word a right answer.

Each of the four styles (`terse`, `chatty`, `reasoning_first` and `answer_first`) is a function of the right answer, the
older values that no longer hold, a line of working out, and a number that picks one of the style's frames. The reply is
always right: it names older values only as things of the past, and it names one present answer.

The frames hold for a word, a number, a sentence to be recalled, a JSON text, or several lines (a list,
a route). An answer is never changed, only set into a text; one of several lines gets lines of its own. Where history or
working is empty, a frame says nothing about it. The same arguments always give the same reply.

    >>> terse("turquoise", ["yellow", "black"], "", 2)
    'turquoise (no longer yellow or black)'
    >>> terse("turquoise", [], "", 2)
    'turquoise'

The frames were written by somebody who had not read the matchers. Fixing a matcher does not change them.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

Style = Callable[[str, Sequence[str], str, int], str]
"""Answer, history, working and pick to the text of a reply."""

_ENDS = ".!?…:;,)]}\"'”’»`*。！？"
"""The characters after which a sentence needs no full stop."""


_MARKER = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+", re.MULTILINE)
"""The mark at the start of an item of a list."""


@dataclass(frozen=True)
class Frame:
    """A hand-written frame of a reply.

    `shape` holds the paragraphs. A paragraph may have the slots

    - `{past}`, for the sentence `past`, which is left out without history,
    - `{work}`, for the sentence `work`, which is left out without working,
    - `{plain}`, for the sentence `plain`, which appears only if there is neither history nor working,
    - `{answer}`, `{stop}` (with a full stop, unless there is an end already) or `{bold}` (if it is a single line).

    A paragraph of which nothing is left is dropped. The sentence `past` may have `{told}` (“first X, then Y”), `{all}`
    (“X, Y and Z”) or `{either}` (“X, Y or Z”); the sentence `work` has `{working}`.

    What comes before the answer in its paragraph can also go above it, and what comes after it, below.
    """

    shape: tuple[str, ...]
    past: str = ""
    work: str = ""
    plain: str = ""


def _flat(value: str) -> str:
    """Return a value in a single line."""
    return "; ".join(part.strip() for part in value.splitlines() if part.strip())


def _quoted(value: str) -> str:
    """Return a value, in quotation marks if it is long enough to need them."""
    flat = _flat(_MARKER.sub("", value) if "\n" in value else value)
    if len(flat.split()) <= 3 or any(mark in flat for mark in "“”{["):
        return flat
    return f"“{flat}”"


def _older(answer: str, history: Sequence[str]) -> list[str]:
    """Return the values that are neither the answer nor empty."""
    present = _flat(answer).casefold()
    return [_quoted(value) for value in history if _flat(value) and _flat(value).casefold() != present]


def _joined(values: Sequence[str], word: str) -> str:
    """Return values as an enumeration whose last two are joined by a word."""
    if len(values) < 2:
        return "".join(values)
    return f"{', '.join(values[:-1])} {word} {values[-1]}"


def _told(values: Sequence[str]) -> str:
    """Return values in the order in which they were told."""
    if len(values) < 2:
        return "".join(values)
    return f"first {', then '.join(values)}"


def _stopped(text: str) -> str:
    """Return a text with a full stop, unless it is punctuated or has several lines."""
    if "\n" in text or not text or text[-1] in _ENDS:
        return text
    return f"{text}."


def _bold(text: str) -> str:
    """Return a text in bold, if that is safe for it."""
    if "\n" in text or any(mark in text for mark in "*`_{["):
        return text
    return f"**{text}**"


def _paragraph(shape: str, slots: dict[str, str], forms: dict[str, str]) -> str:
    """Return a paragraph with its slots filled, or nothing."""
    for name, sentence in slots.items():
        shape = shape.replace(f"{{{name}}}", sentence)
    for name, form in forms.items():
        before, slot, after = shape.partition(f"{{{name}}}")
        if not slot:
            continue
        if "\n" in form:
            parts = (_tidy(before, "all"), form, _tidy(after, "all"))
            return "\n\n".join(part for part in parts if part)
        return f"{_tidy(before, 'lead')}{form}{_tidy(after, 'rest')}".strip()
    return _tidy(shape, "all")


def _tidy(text: str, side: str) -> str:
    """Return a text with single blanks, kept on the side of the answer."""
    tidied = " ".join(text.split())
    if side == "lead" and tidied and text[-1:] == " ":
        return f"{tidied} "
    if side == "rest" and tidied and text[:1] == " ":
        return f" {tidied}"
    return tidied


def _filled(
    frames: Sequence[Frame],
    answer: str,
    history: Sequence[str],
    working: str,
    pick: int,
) -> str:
    """Return the frame that `pick` chooses, filled with the rest. Raises ValueError if there is no answer."""
    answer = answer.strip()
    if not answer:
        raise ValueError("There is no answer to put into a frame.")
    frame = frames[pick % len(frames)]
    older, working = _older(answer, history), _flat(working)
    past = work = ""
    if older and frame.past:
        past = (
            frame.past.replace("{told}", _told(older))
            .replace("{all}", _joined(older, "and"))
            .replace("{either}", _joined(older, "or"))
        )
    if working and frame.work:
        work = frame.work.replace("{working}", _stopped(working))
    plain = "" if past or work else frame.plain
    slots = {"past": past, "work": work, "plain": plain}
    forms = {"answer": answer, "stop": _stopped(answer), "bold": _bold(answer)}
    paragraphs = [_paragraph(shape, slots, forms) for shape in frame.shape]
    return "\n\n".join(paragraph for paragraph in paragraphs if paragraph)


# As short as from a small model, or one told to be brief.
TERSE: tuple[Frame, ...] = (
    Frame(("{answer}",)),
    Frame(("{stop}",)),
    Frame(("{answer} {past}",), past="(no longer {either})"),
    Frame(("Answer: {answer}",)),
    Frame(("{bold}",)),
    Frame(("Now: {answer}", "{past}"), past="Before: {told}"),
    Frame(("→ {answer}",)),
    Frame(("{past}", "Current: {answer}"), past="Outdated: {all}"),
    Frame(("{stop} {past}",), past="Not {either} any more."),
    Frame(("{work}", "{plain} {answer}"), work="{working}", plain="Final answer:"),
)

# Warm and talkative, with an opening or closing phrase.
CHATTY: tuple[Frame, ...] = (
    Frame(
        ("Sure, happy to help!", "{past} {work} What you are after is: {stop}"),
        past="You had mentioned {all} before, but that is no longer right.",
        work="{working}",
    ),
    Frame(
        ("Oh, I know this! It's this: {stop}", "{past}", "Anything else? 😊"),
        past="(Yes, it used to be {told}, but those days are over.)",
    ),
    Frame(
        ("Good question! {past}", "Here is what I have: {stop}", "{work}"),
        past="Things have changed along the way: it was {told}, and that is over.",
        work="In case you wonder how I got there: {working}",
    ),
    Frame(
        (
            "Thanks for asking! I've been following along, and my answer is: {bold}",
            "{past}",
            "Do tell me if you would like me to go through it again.",
        ),
        past="I haven't forgotten that you also told me {all}, but that was before.",
    ),
    Frame(
        ("Of course! 🙂", "{stop}", "{past} {work}"),
        past="I am not going by {either} here, since that no longer holds.",
        work="This is how it works out: {working}",
    ),
    Frame(
        ("Ah, let me see… yes, got it: {stop}", "{past} {plain}"),
        past="We did start elsewhere ({told}), but that has changed since.",
        plain="Hope that helps!",
    ),
    Frame(
        (
            "Happy to remind you! {past} {work}",
            "So what I have for you is: {stop}",
            "Let me know if there's anything else you need.",
        ),
        past="Going back a bit, it was {told}; that has changed since.",
        work="{working}",
    ),
    Frame(
        ("Okay! So, from everything you've told me, it's: {stop}", "{past}"),
        past="That's the current state of affairs, so forget about {all}.",
    ),
    Frame(
        ("I was hoping that you would ask! ✨ {bold}", "{work}", "{past}"),
        past="Should you have {all} in mind: that is how things stood earlier.",
        work="The way I see it: {working}",
    ),
    Frame(
        (
            "Hi again! You would like to know where we stand, right? {past} As things are now, it is: {stop}",
            "Have a lovely day!",
        ),
        past="It has not always been the same, since earlier it was {told}.",
    ),
)

# The history and the working come first, the answer comes last.
REASONING_FIRST: tuple[Frame, ...] = (
    Frame(
        ("Let me think. {past} {work}", "{plain} So the answer is: {stop}"),
        past="You told me {told}, and later on you changed that.",
        work="{working}",
        plain="I have gone back over our conversation.",
    ),
    Frame(
        ("{past} {work} {plain}", "Final answer: {bold}"),
        past="Earlier on you told me {all}, which has been superseded.",
        work="Working it out: {working}",
        plain="Going over what you have told me so far.",
    ),
    Frame(
        (
            "Okay, let me go through this in order.",
            "{past}",
            "{work}",
            "That leaves me with: {stop}",
        ),
        past="- Said earlier, but no longer valid: {all}",
        work="- Working: {working}",
    ),
    Frame(
        (
            "Hmm. Let me look at what you have said so far. {past} {work}",
            "What counts is how things stand now, and that is: {stop}",
        ),
        past="Earlier you had said {all}, but you have corrected that since.",
        work="{working}",
    ),
    Frame(
        ("## Reasoning", "{past} {work} {plain}", "## Answer", "{answer}"),
        past="At an earlier point it was {told}. This no longer applies.",
        work="{working}",
        plain="The question is about something that came up in our conversation.",
    ),
    Frame(
        ("The question is what holds at this point. {past} {work} Therefore: {stop}",),
        past="It cannot be {either}, since that was replaced later on.",
        work="{working}",
    ),
    Frame(
        ("Thinking back… {past} {work}", "…which brings me to my answer: {stop}"),
        past="We started elsewhere ({told}), and then came the change.",
        work="{working}",
    ),
    Frame(
        ("**What I remember:** {past} {work} {plain}", "**Conclusion:** {answer}"),
        past="At an earlier stage it was {told}, and that has changed since.",
        work="{working}",
        plain="You told me what I need for this earlier on.",
    ),
    Frame(
        ("{past} {work} {plain}", "Right, so here it is: {stop}"),
        past="I was about to say {either}… wait, no, that's out of date.",
        work="Let me check. {working}",
        plain="Let me check what you have told me.",
    ),
    Frame(
        (
            "To answer this, I need the latest state rather than the earliest. {past} {work}",
            "Hence, as of now: {bold}",
        ),
        past="Earlier states that have been overtaken: {all}.",
        work="The steps are as follows. {working}",
    ),
)

# The answer comes first, then its explanation.
ANSWER_FIRST: tuple[Frame, ...] = (
    Frame(
        ("{stop}", "{past} {work}"),
        past="Before, you had told me {told}, but you changed that later.",
        work="{working}",
    ),
    Frame(
        ("{bold}", "**Why?** {past} {work} {plain}"),
        past="Earlier on it was {told}, and that has been replaced since.",
        work="{working}",
        plain="That follows from what you told me earlier.",
    ),
    Frame(
        ("The answer is: {stop}", "{past}", "{work}"),
        past="For completeness: {all} used to be right, but no longer.",
        work="Explanation: {working}",
    ),
    Frame(
        ("It's this: {stop} {past} {work}",),
        past="I am not going by {either}, since you updated that.",
        work="My reasoning: {working}",
    ),
    Frame(
        ("Short answer: {stop}", "Long answer: {past} {work} {plain}"),
        past="in the past it was {told}; later that was changed to the above.",
        work="{working}",
        plain="the above is what follows from our conversation.",
    ),
    Frame(
        ("{answer}", "{past}", "{work}"),
        past="(Previously: {told}.)",
        work="(Working: {working})",
    ),
    Frame(
        ("As of now: {stop}", "{past} {work} {plain}"),
        past="This replaces what you had told me before, namely {all}.",
        work="How I got there: {working}",
        plain="I took that from what you have told me.",
    ),
    Frame(
        ("### Answer", "{answer}", "### Explanation", "{past} {work} {plain}"),
        past="It used to be {told}. A later message of yours overrode that.",
        work="{working}",
        plain="This is what I gather from your messages.",
    ),
    Frame(
        ("I'm confident about this: {stop}", "{past} {work}"),
        past="If you remember {either}, that was the earlier state of things.",
        work="{working}",
    ),
    Frame(
        ("✅ {answer}", "{past}", "{work}"),
        past="❌ {all} (outdated)",
        work="📝 {working}",
    ),
)


def terse(answer: str, history: Sequence[str], working: str, pick: int) -> str:
    """The answer with almost nothing around it."""
    return _filled(TERSE, answer, history, working, pick)


def chatty(answer: str, history: Sequence[str], working: str, pick: int) -> str:
    """The answer in friendly words."""
    return _filled(CHATTY, answer, history, working, pick)


def reasoning_first(answer: str, history: Sequence[str], working: str, pick: int) -> str:
    """The history and the working, and then the answer."""
    return _filled(REASONING_FIRST, answer, history, working, pick)


def answer_first(answer: str, history: Sequence[str], working: str, pick: int) -> str:
    """The answer, and then the history and the working."""
    return _filled(ANSWER_FIRST, answer, history, working, pick)


STYLES: dict[str, Style] = {
    "terse": terse,
    "chatty": chatty,
    "reasoning_first": reasoning_first,
    "answer_first": answer_first,
}
