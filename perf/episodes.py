"""Episodes of the training environment: how many a second, how memory grows over many, and whether rewards are scores.

python -m perf.episodes                             # 200 at 2k and 32k; 1,000 rewards against rescoring
python -m perf.episodes 10000                       # so many at each span
"""

import resource
import sys
import tempfile
import time
from pathlib import Path

from ltm_bench import Environment, load_run
from ltm_bench.core.dice import Dice

ASKED = {"scenarios": ["colours", "jokes", "shopping_list", "mind_your_business"], "examples": 1}
COMPARED = 1000


def rate(span: str, episodes: int) -> None:
    """Print how many episodes a second a scripted agent plays, by the CPU's clock, and the peak of memory."""
    environment, begun, peaks = Environment(span=span, **ASKED), time.process_time(), []  # type: ignore[arg-type]  # two kinds
    for seed in range(episodes):
        message, _ = environment.reset(seed=seed)
        while message:
            message = environment.step("Okay.")[0]
        peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    speed = episodes / (time.process_time() - begun)
    grown = f"{peaks[episodes // 10]:.0f} MB after a tenth of them, {peaks[-1]:.0f} MB at last"
    print(f"{span}: {speed:.1f} episodes a CPU second; {grown}")


def agree(episodes: int) -> None:
    """Print in how many episodes rewards and verdicts are those of rescoring the log."""
    environment, equal = Environment(span="2k", **ASKED), 0  # type: ignore[arg-type]  # two kinds
    with tempfile.TemporaryDirectory() as place:
        for seed in range(episodes):
            dice, heard, total, said = Dice(f"policy/{seed}"), [""], 0.0, []
            message, info = environment.reset(seed=seed)
            while message:
                heard.append(message)
                message, reward, _, _, info = environment.step(dice.choice(heard[-12:]).rpartition(" ")[2])
                total += reward
                said += (
                    [(info["question"]["example"], info["question"]["reason"])] if "question" in info else []
                )
            Path(place, "events.jsonl").write_bytes(environment.save())
            asked = [(e.id, q) for e in load_run(place).examples for q in e.questions]
            same = sorted(said) == sorted((name, q.reason) for name, q in asked)
            equal += same and abs(total - sum(q.counted or 0.0 for _, q in asked)) < 1e-9
    print(f"rewards equal rescoring in {equal} of {episodes} episodes")


if __name__ == "__main__":
    for each in ("2k", "32k"):
        rate(each, int(sys.argv[1]) if len(sys.argv) > 1 else 200)
    agree(COMPARED)
