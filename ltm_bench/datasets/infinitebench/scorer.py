"""The scorers of InfiniteBench (Zhang et al. 2024): both published versions, and a strict one.

Modes: `official-2024-06` and `official-newest` (August 2024) score exactly as the published programs of that time,
including their accidents, so that published figures can be compared; `strict` is ours. Every scorer maps a
prediction and a label to a score from 0 to 1, and the score of a task is the mean over its lines.
"""

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, get_args

from ltm_bench.datasets.overlap import f1

Mode = Literal["official-2024-06", "official-newest", "strict"]
MODES: tuple[Mode, ...] = get_args(Mode)

_SPACES = re.compile(r" {2,}")
_MARKS = "\n:\"'.,?!{}"


def _first(label: Any) -> Any:
    return label[0] if isinstance(label, list) else label


def _aliases(label: Any) -> list[str]:
    return [str(each) for each in label] if isinstance(label, list) else [str(label)]


def _blanked(text: str, marks: Sequence[str]) -> str:
    for mark in marks:
        text = text.replace(mark, " ")
    return text


def passkey(prediction: str, label: Any, mode: Mode) -> float:
    """Take the first run of digits as the key, leading zeros included; strictly, the only run of its length."""
    wanted = str(_first(label))
    found = re.findall(r"[0-9]+", prediction)
    if mode == "strict":
        return float({each for each in found if len(each) == len(wanted)} == {wanted})
    return float(bool(found) and found[0] == wanted)


def kv_retrieval(prediction: str, label: Any, mode: Mode) -> float:
    """Look for the value as a word; strictly, anywhere in the text, last, after at most the key."""
    wanted = str(_first(label))
    if mode == "strict":
        found = re.findall(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", prediction.lower())
        return float(found[-1:] == [wanted.lower()] and len(set(found)) <= 2)
    return float(wanted in _blanked(prediction, _MARKS).split())


def code_run(prediction: str, label: Any, mode: Mode) -> float:
    """Look for the value at the end of the answer; strictly, any kind of minus, bold type and 4.0 are understood."""
    wanted = int(_first(label))
    if mode == "strict":
        return float(_last_whole(prediction) == wanted)
    words = _blanked(prediction, "\n.`'\":").split()
    try:
        return float(bool(words) and _whole(words[-1]) == wanted)
    except ValueError:
        return 0.0


_DIGITS = 4000
"""Maximum digits read of a number; Python refuses to parse slightly more."""


def _whole(text: str) -> int:
    """Read an integer of any length. Raises ValueError for other texts."""
    return int(text if len(text) <= _DIGITS else text.lstrip("0")[:_DIGITS] or "0")


def _last_whole(text: str) -> float | None:
    """Return the last integer in a text; `4.0` counts as one, and `1.2.34` ends in 34."""
    last = None
    for run in re.finditer(r"[\d.]+", text):
        if parts := run[0].rstrip(".").split("."):
            whole = len(parts) > 1 and parts[-1].strip("0") == "" and parts[-2] != ""
            begins = len(parts) - (2 if whole else 1)
            if parts[begins]:
                minus = begins == 0 and text[max(0, run.start() - 1) : run.start()] in ("-", "−", "–")
                last = -float(parts[begins]) if minus else float(parts[begins])
    return last


def math_find(prediction: str, label: Any, mode: Mode) -> float:
    """Take the first number as the value; strictly, the last. The published programs raise an error on `88.0`."""
    wanted = _first(label)
    found = re.findall(r"\d+\.\d+|\d+", prediction)
    if not found:
        return 0.0
    if mode == "strict":
        return float(float(found[-1]) == float(wanted))
    if isinstance(wanted, int):
        return float("." not in found[0] and _whole(found[0]) == wanted)
    return float(float(found[0]) == float(wanted))


def math_calc(prediction: str, label: Any, mode: Mode, *, skip_first: bool = False) -> float:
    """Return the share of the values before the first wrong one. The published program skips GPT-4's first number.

    Strictly, minus signs count, and a list may begin with the starting number.
    """
    wanted = [int(each) for each in (label[0] if label and isinstance(label[0], list) else label)]
    if not wanted:
        return 0.0
    if mode == "strict":
        signed = [_whole(each) for each in re.findall(r"(?<!\d)-?\d+", prediction)]
        return max(_prefix(signed, wanted), _prefix(signed[1:], wanted)) / len(wanted)
    found = [_whole(each) for each in re.findall(r"[0-9]+", prediction)]
    return _prefix(found[1:] if skip_first else found, wanted) / len(wanted)


def _prefix(found: Sequence[int], wanted: Sequence[int]) -> int:
    return next(
        (i for i, (a, b) in enumerate(zip(found, wanted, strict=False)) if a != b),
        min(len(found), len(wanted)),
    )


def _normal_english(text: str) -> list[str]:
    text = "".join(c for c in text.lower() if c not in string.punctuation)
    return re.sub(r"\b(a|an|the)\b", " ", text).split()


_MARKS_CHINESE = frozenset(
    string.punctuation
    + "！？｡。＂＃＄％＆＇（）＊＋，－／：；＜＝＞＠［＼］＾＿｀｛｜｝～｟｠｢｣､"
    + "、〃》「」『』【】〔〕〖〗〘〙〚〛〜〝〞〟〰〾〿–—‘’‛“”„‟…‧﹏"
)
"""The punctuation that the published programs drop; `《`, `〈`, `〉` and `·` are missing, and count as characters."""


def _normal_chinese(text: str, mode: Mode) -> list[str]:
    def dropped(c: str) -> bool:
        return c.isspace() or c in _MARKS_CHINESE or (mode == "strict" and unicodedata.category(c)[0] == "P")

    return [c for c in text.lower() if not dropped(c)]


def qa_english(prediction: str, label: Any, mode: Mode) -> float:
    """Return token F1 against the best of the accepted answers."""
    return max(f1(_normal_english(prediction), _normal_english(each)) for each in _aliases(label))


def qa_chinese(prediction: str, label: Any, mode: Mode) -> float:
    """Return character F1 against the best of the accepted answers."""
    return max(f1(_normal_chinese(prediction, mode), _normal_chinese(each, mode)) for each in _aliases(label))


def summary(prediction: str, label: Any, mode: Mode) -> float:
    """Return ROUGE-L-Sum (Lin 2004), F measure, without stemming; sentences are lines."""
    return max(rouge_l_sum(prediction, each) for each in _aliases(label))


def rouge_l_sum(prediction: str, reference: str) -> float:
    """Return the F measure of summary-level ROUGE-L, as rouge_score 0.1.2 computes it."""
    said, wanted = _lines(prediction), _lines(reference)
    total_said, total_wanted = sum(map(len, said)), sum(map(len, wanted))
    if not total_said or not total_wanted:
        return 0.0
    left_said = Counter(word for line in said for word in line)
    left_wanted = Counter(word for line in wanted for word in line)
    hits = 0
    for line in wanted:
        places = sorted({i for other in said for i in _common(line, other)})
        for word in (line[i] for i in places):
            if left_said[word] > 0 and left_wanted[word] > 0:
                hits += 1
                left_said[word] -= 1
                left_wanted[word] -= 1
    if not hits:
        return 0.0
    precision, recall = hits / total_said, hits / total_wanted
    return 2 * precision * recall / (precision + recall)


def _lines(text: str) -> list[list[str]]:
    lines = [re.sub(r"[^a-z0-9]+", " ", line.lower()).split() for line in text.split("\n")]
    return [line for line in lines if line]


def _common(reference: Sequence[str], other: Sequence[str]) -> list[int]:
    """Return the indices in `reference` of a longest common subsequence; of several, the one that ends last."""
    import numpy as np

    numbers: dict[str, int] = {}
    a = np.array([numbers.setdefault(word, len(numbers)) for word in reference])
    b = np.array([numbers.setdefault(word, len(numbers)) for word in other])
    table = np.zeros((len(a) + 1, len(b) + 1), dtype=np.int32)
    for i, word in enumerate(a, start=1):
        above = table[i - 1]
        table[i, 1:] = np.maximum.accumulate(np.maximum(above[1:], above[:-1] + (b == word)))
    i, j, places = len(a), len(b), []
    while i and j:
        if a[i - 1] == b[j - 1]:
            places.append(i - 1)
            i, j = i - 1, j - 1
        elif table[i, j - 1] > table[i - 1, j]:
            j -= 1
        else:
            i -= 1
    return places


def choice(prediction: str, label: Any, mode: Mode) -> float:
    """Look for one letter from A to D, or the option's text; `label` is text and letter."""
    said, accepted = prediction.strip(), _aliases(label)
    if not said:
        return 0.0
    if mode == "strict":
        return float(_settled(said, "ABCD", accepted))
    if mode == "official-newest" and _last_letter(said, "A-D") in accepted:
        return 1.0
    if said[0] in "ABCD":
        return float(said[0] in accepted)
    if said in accepted:
        return 1.0
    said = _SPACES.sub(" ", _blanked(said, "\n\"'.,?!{}"))
    for lead in ("answer is:", "answer:", "answer is", "option is"):
        at = said.find(lead)
        if at >= 0:
            rest = said[at + len(lead) + 1 :]
            return float(bool(rest) and any(rest.startswith(each) for each in accepted))
    bare = next((word for word in said.split() if word in "ABCD"), None)
    return float(bare in accepted)


def code_debug(prediction: str, label: Any, mode: Mode) -> float:
    """Look for the letter or the name of the broken function; `label` is name and letter."""
    name, letter = str(label[0]), str(label[1])
    prediction = prediction.strip()
    if mode == "strict":
        return float(_settled(prediction, "ABCD", [name, letter]))
    newest = mode == "official-newest"
    if newest and _last_letter(prediction, "A-J") == letter:
        return 1.0
    if not newest and prediction[:2] in (f"{letter}.", f"{letter}:"):
        return 1.0
    said = _blanked(prediction, ("\n", "`", "'", '"', "-", "*", "Option", "option"))
    said = _SPACES.sub(" ", said)
    if newest and said.startswith((letter, name)):
        return 1.0
    for lead in ("answer is:", "is:", "answer:", "correct option is:"):
        at = said.find(lead)
        if at >= 0:
            rest = said[at + len(lead) + 1 :]
            return float(bool(rest) and rest.startswith((letter, name)))
    return 0.0


def _last_letter(text: str, letters: str) -> str | None:
    r"""Return the last isolated capital letter in the first line that holds one, or None.

    This is what the published `\b[A-D]\b(?!.*\b[A-D]\b)` finds; that pattern takes quadratic time.
    """
    last: re.Match[str] | None = None
    for found in re.finditer(rf"\b[{letters}]\b", text):
        if last is not None and "\n" in text[last.end() : found.start()]:
            break
        last = found
    return last and last[0]


def _settled(said: str, letters: str, accepted: Sequence[str]) -> bool:
    """Whether an answer settles on one letter, or on the text of the right option, and on no other letter."""
    letter = next((each for each in accepted if len(each) == 1 and each in letters), None)
    if letter is None:
        raise ValueError(f"its label is {accepted!r:.60}; it must be the right option's text and letter")
    text = next((each for each in accepted if each != letter), letter)
    plain = re.sub(r"[*_`]", "", said)
    decided = re.findall(
        rf"\b(?:answer|option|choice)(?: is|:)*+\s*+(?::\s*+)?\(?([{letters}])\b(?!')", plain, re.IGNORECASE
    )
    leading = re.match(rf"\(?([{letters}])(?:[.:)\s]|$)(?! [a-z])", plain)
    chosen = {each.upper() for each in decided[-1:]} or ({leading.group(1)} if leading else set())
    if chosen:
        return chosen == {letter}
    alone = set(
        re.findall(rf"(?<![\w'])([{letters.replace('A', '')}]|A(?! (?!or\b|and\b)[a-z]))(?![\w'])", plain)
    )
    if alone:
        return alone == {letter}
    return text.casefold() in plain.casefold()


def dialogue(prediction: str, label: Any, mode: Mode) -> float:
    """Look for the name of the speaker; strictly, any of its forms as whole words."""
    aliases = _aliases(label)
    if mode == "strict":
        said = f" {_upper_words(prediction)} "
        return float(any(f" {_upper_words(each)} " in said for each in aliases))
    if mode == "official-newest":
        return float(any(each.upper() in prediction.upper() for each in aliases))
    return float(aliases[0] in [word.upper() for word in _blanked(prediction, _MARKS).split()])


def _upper_words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.upper()))


SCORERS: Mapping[str, Callable[[str, Any, Mode], float]] = {
    "passkey": passkey,
    "number_string": passkey,
    "kv_retrieval": kv_retrieval,
    "longdialogue_qa_eng": dialogue,
    "longbook_sum_eng": summary,
    "longbook_choice_eng": choice,
    "longbook_qa_eng": qa_english,
    "longbook_qa_chn": qa_chinese,
    "math_find": math_find,
    "math_calc": math_calc,
    "code_run": code_run,
    "code_debug": code_debug,
}
"""The twelve tasks by the names of their files."""


def score(task: str, prediction: str, label: Any, mode: Mode, *, skip_first: bool = False) -> float:
    """Return the score of one line of predictions.

    Args:
        task: One of SCORERS.
        prediction: What the model said.
        label: The right answer, as in the public files.
        mode: Which of the published programs scores, or `strict`.
        skip_first: Skip the first number, as the published program does for GPT-4 in math_calc.
    """
    if task == "math_calc":
        return math_calc(prediction, label, mode, skip_first=skip_first)
    return SCORERS[task](prediction, label, mode)


def task_of(name: str) -> str | None:
    """Return the task that a file of predictions belongs to, by its name: `preds_code_debug_step_by_step.jsonl`."""
    stem = name.partition(".")[0].removeprefix("preds_")
    fitting = [task for task in SCORERS if stem == task or stem.startswith(f"{task}_")]
    return max(fitting, key=len, default=None)
