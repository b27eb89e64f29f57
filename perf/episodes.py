"""Episodes of the training environment: how many a second, how memory grows over many, and whether rewards are scores.

python -m perf.episodes                             # 200 at 2k and 20 at 32k; 1,000 rewards against rescoring
python -m perf.episodes --flat 10000                # memory after each tenth of so many episodes at 2k
"""

import argparse
import resource
import tempfile
import time
from pathlib import Path

from ltm_bench import Environment, load_run
from ltm_bench.core.dice import Dice

SCENARIOS = ["colours", "jokes", "shopping_list", "mind_your_business"]


def play(environment: Environment, seed: int) -> tuple[float, list[tuple[str, float | None, str]]]:
    """Play an episode with replies that are right now and then; return the sum of its rewards, and its verdicts."""
    dice, heard, total = Dice(f"policy/{seed}"), [""], 0.0
    message, info = environment.reset(seed=seed)
    found = []
    while message:
        heard.append(message)
        reply = (
            dice.choice(heard[-12:])
            if dice.chance(0.5)
            else str(info.get("question", {}).get("expected", ""))
        )
        message, reward, _, _, info = environment.step(reply)
        total += reward
        if "question" in info:
            asked = info["question"]
            found.append((asked["example"], asked["score"], asked["reason"]))
    return total, found


def megabytes() -> float:
    """Return the memory that this process holds now."""
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * resource.getpagesize() / 1e6


def rate(span: str, episodes: int) -> None:
    """Print how many episodes a second a scripted agent plays, by the CPU's clock."""
    environment, begun, steps = (
        Environment(span=span, scenarios=SCENARIOS, examples=1),
        time.process_time(),
        0,
    )
    for seed in range(episodes):
        message, _ = environment.reset(seed=seed)
        while message:
            message = environment.step("Okay.")[0]
            steps += 1
    seconds = time.process_time() - begun
    print(f"{span}: {episodes / seconds:.1f} episodes a CPU second, {steps / episodes:.0f} steps each")


def agree(episodes: int) -> None:
    """Print in how many episodes rewards and verdicts are those of rescoring the log."""
    environment, equal, asked = Environment(span="2k", scenarios=SCENARIOS, examples=1), 0, 0
    with tempfile.TemporaryDirectory() as place:
        for seed in range(episodes):
            total, verdicts = play(environment, seed)
            (Path(place) / "events.jsonl").write_bytes(environment.save())
            scored = load_run(place)
            theirs = [(e.id, q.score, q.reason) for e in scored.examples for q in e.questions]
            counted = sum(q.counted or 0.0 for e in scored.examples for q in e.questions)
            equal += sorted(verdicts, key=str) == sorted(theirs, key=str) and abs(total - counted) < 1e-9
            asked += len(theirs)
    print(f"rewards equal rescoring in {equal} of {episodes} episodes ({asked} questions)")


def flat(episodes: int) -> None:
    """Print the memory after each tenth of many episodes."""
    environment = Environment(span="2k", scenarios=["colours"], examples=1)
    for tenth in range(10):
        for seed in range(tenth * episodes // 10, (tenth + 1) * episodes // 10):
            play(environment, seed)
        print(f"after {(tenth + 1) * episodes // 10:,} episodes: {megabytes():.1f} MB")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--flat", type=int, default=0, help="only memory, over so many episodes")
    parser.add_argument("--rewards", type=int, default=1000, help="episodes whose rewards are compared")
    chosen = parser.parse_args()
    if chosen.flat:
        flat(chosen.flat)
    else:
        rate("2k", 200)
        rate("32k", 20)
        agree(chosen.rewards)
