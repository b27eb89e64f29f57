"""The environment says, records and rewards what a run with the same replies says, records and scores."""

import copy
import pickle
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from ltm_bench import Environment, Finish, Reply, Turn, load_run, run
from ltm_bench.core.errors import ConfigError, LogError, ManifestDiffers, SpanTooSmall

pytestmark = pytest.mark.proof(files=("agents/*.*", "configs/*.*"))

SMALL: dict[str, Any] = {"span": "2k", "scenarios": ["colours", "jokes"], "examples": 2}
GATED: dict[str, Any] = {"span": "8k", "scenarios": ["forget_me", "mind_your_business"], "examples": 2}


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def echo(message: str) -> str:
    """Reply with the last words heard, which is right now and then."""
    echo.heard.append(message)  # type: ignore[attr-defined]  # a list that the function carries
    return " ".join(echo.heard[-2:]) if "?" in message else "Okay."  # type: ignore[attr-defined]  # the same


echo.heard = []  # type: ignore[attr-defined]  # see above


def played(
    environment: Environment, reply: Callable[[str], str], **reset: Any
) -> tuple[float, list[dict[str, Any]]]:
    """Play an episode; return the sum of its rewards, and what was known after each step."""
    message, info = environment.reset(**reset)
    total, known = 0.0, [info]
    while message:
        message, reward, terminated, truncated, info = environment.step(reply(message))
        assert truncated is False
        assert terminated is (message == "")
        total += reward
        known.append(info)
    return total, known


def stored(environment: Environment, name: str = "episode") -> Path:
    folder = Path("reports", name)
    folder.mkdir(parents=True)
    (folder / "events.jsonl").write_bytes(environment.save())
    return folder


@pytest.mark.parametrize(
    "settings", [SMALL, {**SMALL, "filler": "live"}, {**SMALL, "acknowledge": "scripted"}]
)
def test_an_episode_is_the_log_of_a_run_with_the_same_replies(settings: dict[str, Any]) -> None:
    Path("agents").mkdir()
    Path("agents/echoing.py").write_text(
        "from ltm_bench import Agent, Message, Reply\n\n\n"
        "class Echoing(Agent):\n"
        '    """Repeats the question before."""\n\n'
        "    free = True\n    observes = True\n\n"
        "    async def reply(self, message: Message) -> Reply:\n"
        '        return Reply("Okay." + message.text[-9:])\n'
    )
    environment = Environment(seed="train:5", **settings)
    played(environment, lambda message: "Okay." + message[-9:])
    found = run("echoing", seed="train:5", **settings)
    ours = environment.save().splitlines()
    assert ours[1:] == (found.folder / "events.jsonl").read_bytes().splitlines()[1:]


@pytest.mark.parametrize("settings", [SMALL, GATED])
def test_rewards_are_what_rescoring_says_question_by_question(settings: dict[str, Any]) -> None:
    environment = Environment(**settings)
    for seed in range(3):
        total, known = played(environment, echo, seed=seed)
        scored = load_run(stored(environment, f"episode{seed}"))
        asked = [info["question"] for info in known if "question" in info]
        questions = [(e.id, q) for e in scored.examples for q in e.questions]
        assert len(asked) == len(questions) > 0
        for example, question in questions:
            [mine] = [a for a in asked if (a["example"], a["text"]) == (example, question.text)]
            assert (mine["outcome"], mine["score"], mine["reason"]) == (
                question.outcome.value,
                question.score,
                question.reason,
            )
        assert total == pytest.approx(sum(q.counted or 0.0 for _, q in questions))
        assert known[-1]["score"] == pytest.approx(scored.score)
        assert known[-1]["out_of"] == scored.out_of


def test_silence_earns_nothing_even_where_restraint_is_right() -> None:
    total, known = played(Environment(**GATED), lambda _: "")
    assert total == known[-1]["score"] == 0.0


@pytest.mark.unkept
def test_equal_seeds_give_equal_rewards_in_two_processes(capsys: pytest.CaptureFixture[str]) -> None:
    program = (
        "from ltm_bench import Environment\n"
        f"environment = Environment(**{SMALL!r})\n"
        "message, info = environment.reset(seed=3)\n"
        "while message:\n"
        "    message, reward, *_, info = environment.step(message)\n"
        "    print(reward, info.get('question'))\n"
    )
    other = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    exec(program, {})
    assert other.stdout == capsys.readouterr().out != ""


def test_episodes_follow_each_other_on_training_seeds_and_write_no_file(place: Path) -> None:
    environment = Environment(**SMALL)
    seeds = [environment.reset()[1]["seed"] for _ in range(2)]
    seeds += [environment.reset(seed=17)[1]["seed"], environment.reset()[1]["seed"]]
    assert seeds == ["train:0", "train:1", "train:17", "train:18"]
    assert environment.reset(seed="train:3")[1]["seed"] == "train:3"
    assert Environment(seed=4, **SMALL).reset(seed=9)[1]["seed"] == 9
    assert list(place.iterdir()) == []


def test_what_the_agent_only_observes_comes_with_the_next_message() -> None:
    _, known = played(Environment(acknowledge="scripted", **SMALL), lambda _: "")
    observed = [turn for info in known for turn in info["observed"]]
    assert {turn.kind for turn in observed} == {"tell", "fill"}
    assert all(isinstance(turn, Turn) and turn.answered == "script" for turn in observed)
    assert [turn.message.turn for turn in observed] == sorted({turn.message.turn for turn in observed})
    assert known[0]["message"].text
    assert known[-1]["message"] is None


def test_a_saved_episode_goes_on_as_if_nothing_had_happened() -> None:
    environment, restored = Environment(**SMALL), Environment(**SMALL)
    message, _ = environment.reset(seed=2)
    for _ in range(5):
        message, *_ = environment.step("Okay.")
    state = environment.save()
    again, info = restored.restore(state)
    assert again == message
    assert (info["seed"], restored.save()) == ("train:2", state)
    ends = []
    for each in (environment, restored):
        message = each.step("grey")[0]
        while message:
            message = each.step(message)[0]
        ends.append(each.save())
    assert ends[0] == ends[1]


def test_a_state_of_another_environment_or_a_damaged_one_is_refused() -> None:
    environment = Environment(**SMALL)
    environment.reset()
    state = environment.save()
    with pytest.raises(ManifestDiffers, match=r"restore: .*span"):
        Environment(**{**SMALL, "span": "4k"}).restore(state)
    with pytest.raises(LogError, match="the state is damaged"):
        environment.restore(state + b"{}\n")
    for strange in (b"", b"x", b"{}"):
        with pytest.raises(LogError, match="is not a manifest"):
            environment.restore(strange)


def test_a_reply_may_carry_its_usage_and_an_overflow_is_scored_as_one() -> None:
    environment = Environment(**SMALL)
    message, info = environment.reset()
    while message:
        message, _, _, _, info = environment.step(Reply("grey", finish=Finish.OVERFLOW))
        if "question" in info:
            assert info["question"]["outcome"] == "overflow"
    with pytest.raises(ConfigError, match="the conversation is over: reset"):
        environment.step("more")


def test_bad_input_is_one_line_that_says_what_to_do() -> None:
    with pytest.raises(ConfigError, match="call reset"):
        Environment(**SMALL).step("too early")
    with pytest.raises(ConfigError, match="--seed train:x: write a whole number"):
        Environment(**SMALL).reset(seed="train:x")
    with pytest.raises(ConfigError, match="--seed train:-1"):
        Environment(**SMALL).reset(seed=-1)
    with pytest.raises(SpanTooSmall):
        Environment(span=30, scenarios=["colours"])
    environment = Environment(**SMALL)
    environment.reset()
    with pytest.raises(ConfigError, match="turn 0: the reply is a Reply of"):
        environment.step("x" * 5_000_000)
    with pytest.raises(ConfigError, match="the reply is int, not a Reply"):
        environment.step(7)  # type: ignore[arg-type]  # on purpose


def test_the_page_of_a_training_seed_says_so() -> None:
    result = run("perfect", seed="train:17", **SMALL)
    assert result.name.endswith("-seedtrain-17")
    assert any("train:17 is a training seed" in remark for remark in result.results.remarks)
    assert "train:17 is a training seed" in (result.folder / "report.html").read_text("utf-8")
    assert not any("training" in remark for remark in run("perfect", seed=17, **SMALL).results.remarks)
    assert {(row["seed"], row["training"]) for row in result.rows()} == {(17, True)}


def test_gymnasium_makes_it_by_its_id_and_its_checker_accepts_it() -> None:
    gymnasium = pytest.importorskip("gymnasium")
    from gymnasium.utils.env_checker import check_env

    made = gymnasium.make("ltm_bench/Conversation-v0", **SMALL)
    assert isinstance(made.unwrapped, Environment)
    assert isinstance(made.unwrapped, gymnasium.Env)
    check_env(made.unwrapped, skip_render_check=True)
    message, _ = made.reset(seed=1)
    assert message in made.observation_space
    assert made.step(made.action_space.sample())[2] is False


@pytest.mark.unkept
def test_it_works_without_gymnasium() -> None:
    program = (
        "import sys\nsys.modules['gymnasium'] = None\n"
        "from ltm_bench import Environment\n"
        f"message, info = Environment(**{SMALL!r}).reset()\n"
        "print(info['seed'])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "train:0\n"


@pytest.mark.parametrize("again", [lambda each: pickle.loads(pickle.dumps(each)), copy.deepcopy, copy.copy])
@pytest.mark.parametrize("steps", [-1, 0, 3])
@pytest.mark.parametrize("scenarios", [["colours"], ["delayed_recall"]], ids=["python", "toml"])
def test_a_copy_goes_on_as_the_original(
    again: Callable[[Environment], Environment], steps: int, scenarios: list[str]
) -> None:
    environment = Environment(span="2k", scenarios=scenarios, examples=1, seed="train:7")
    message = ""
    if steps >= 0:
        message, _ = environment.reset()
    for _ in range(steps):
        message = environment.step("Okay.")[0]
    copied = again(environment)
    if message:
        assert copied.step("Okay.")[:4] == environment.step("Okay.")[:4]
        assert copied.save() == environment.save()
    assert copied.reset()[0] == environment.reset()[0]


def test_gymnasium_steps_several_at_once() -> None:
    gymnasium = pytest.importorskip("gymnasium")
    made = gymnasium.vector.AsyncVectorEnv([partial(Environment, **SMALL)] * 2, shared_memory=False)
    try:
        seen, _ = made.reset()
        assert len(seen) == 2
        assert made.step(("Okay.", "Okay."))[0]
    finally:
        made.close()
