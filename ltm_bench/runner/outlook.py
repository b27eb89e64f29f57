"""What to know of an agent's window, and of its model's end, before a run starts: one sentence.

The header of `run`, `estimate` and the page show the same one.
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime

from ltm_bench.core.agent import UsageModel
from ltm_bench.plan.planning import Plan
from ltm_bench.plan.suites import Preset, presets
from ltm_bench.plan.tables import config_folders
from ltm_bench.plan.values import spell_span
from ltm_bench.runner.estimate import Estimate
from ltm_bench.schedule.fitting import USABLE, smallest_span

_RATIO = 1.5
"""A model's tokens per token of the benchmark's counter, at worst, where its adapter is not asked."""


def outlook(plan: Plan, found: Estimate | None, today: date | None = None) -> str:
    """Return the sentence; empty if there is nothing to say.

    Args:
        plan: The run's plan.
        found: Its estimate; None if it is too long to simulate quickly.
        today: The current day, by default.
    """
    model = plan.agents.sample.usage_model()
    modelless = model is None and not {"model", "core"} & plan.manifest.agent.settings.keys()
    known = {} if modelless else presets(config_folders())
    said = () if model is None else _of_window(plan, model, found, known)
    day = today or datetime.now(UTC).date()  # noqa: TID251  # models are shut down on days of the real calendar
    return "; ".join((*said, *_of_end(plan, known, day)))


def about(tokens: int) -> str:
    """Round tokens to two digits."""
    unit = 10 ** max(0, len(str(tokens)) - 2)
    return f"{round(tokens / unit) * unit:,}"


def _of_window(
    plan: Plan, model: UsageModel, found: Estimate | None, known: Mapping[str, Preset]
) -> Iterator[str]:
    """Yield what the window holds of the conversation, what that means, and what to choose instead."""
    rounds = max((example.index for example in plan.examples), default=0) + 1
    least = int(rounds * USABLE * plan.manifest.span)
    asked = plan.agents.window is not None
    window = f"a window of {model.window:,}"
    if model.assumed:
        window = (
            f"an unknown window (its server does not say: {model.window:,} is assumed, -A window=N sets it)"
        )
    elif asked:
        window += " (its server says so)"
    size = f"at least {least:,}" if found is None else f"about {about(found.tokens)}"
    whole = least if found is None else found.whole
    refused = 0 if found is None else found.overflows
    if whole <= model.room and not refused:
        if model.assumed or asked:
            holds = "would hold" if model.assumed else "holds"
            yield f"{size} tokens of conversation meet {window}, which {holds} them"
        return
    meaning = "a full-context agent forgets by truncation"
    if refused:
        meaning = f"{refused:,} messages do not fit into it at all"
    if found is not None and found.needles:
        some = f"about {found.unseen} of {found.needles} needles lie" if found.unseen else "no needle lies"
        meaning += f", {'and' if found.unseen else 'but'} {some} outside it when asked about"
    yield f"{size} tokens of conversation meet {window}: {meaning}"
    if found is None or found.unseen or refused:
        choices = [*_shorter(plan, model, found), *_wider(plan, whole, known)]
        if choices:
            yield f"{' or '.join(choices)} would keep all of them in view"


def _shorter(plan: Plan, model: UsageModel, found: Estimate | None) -> Iterator[str]:
    """Yield a span that the window always shows whole: no needle is further back than that."""
    if plan.rehearsals and model.truncate == "step":
        dates = 1.0 if found is None else found.whole / max(found.tokens, 1)
        span = int(model.keep * model.room / dates) // 1000 * 1000
        if span >= max(map(smallest_span, plan.rehearsals.values())):
            yield f"--span {spell_span(span)}"


def _wider(plan: Plan, whole: int, known: Mapping[str, Preset]) -> Iterator[str]:
    """Yield an agent whose window holds the whole conversation, one of the same adapter if there is one."""
    entry = plan.manifest.agent
    for name, each in sorted(known.items(), key=lambda pair: pair[1].adapter != entry.adapter):
        window, output = each.settings.get("window"), each.settings.get("max_output", 0)
        if isinstance(window, int) and each.retires is None and window - output >= whole * _RATIO:
            same = each.settings.get("model") == entry.settings.get("model")
            yield f"-A window={window}" if same else f"--agent {name} (a window of {window:,})"
            return


def _of_end(plan: Plan, known: Mapping[str, Preset], today: date) -> Iterator[str]:
    """Yield when the agent's model, or its core's, is shut down."""
    settings = plan.manifest.agent.settings
    models = {str(settings.get(key)).rpartition(":")[2] for key in ("model", "core")}
    for each in known.values():
        if each.retires is not None and (model := each.settings.get("model")) in models:
            yield f"{model} {'is' if today < each.retires else 'was'} {each.end}"
            return
