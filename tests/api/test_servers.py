"""Another server is another run, and another judge."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ltm_bench.adapters.testing import provider
from ltm_bench.judge.judges import find_judges
from ltm_bench.log.reader import read_manifest

if TYPE_CHECKING:
    from tests.conftest import Command

RUN = (
    *("run", "--span", "2k", "--scenario", "colours", "--examples", "1", "--name", "r"),
    *("--agent", "openai_chat", "-A", "model=m", "-A", "window=32000", "--max-retries", "0"),
)
RESUME = ("resume", "r")


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.mark.parametrize("words", [RUN, RESUME], ids=["run", "resume"])
def test_a_run_goes_on_at_another_server_only_if_that_is_said(
    command: "Command", monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    with provider() as first, provider() as second:
        monkeypatch.setenv("OPENAI_BASE_URL", first.openai_url)
        with first.failing(status=401):
            assert command(*RUN).exit_code == 3
        assert read_manifest(Path("reports/r")).agent.server == first.openai_url
        monkeypatch.setenv("OPENAI_BASE_URL", second.openai_url)
        done = command(*words)
        said = f"r was begun at {first.openai_url}, and its agent is at {second.openai_url} now"
        assert done.exit_code == 1
        assert said in done.err
        assert second.chats == []
        assert command(*words, "--without", "server").exit_code == 0
        assert second.chats


def test_a_server_on_this_machine_may_come_back_at_another_port(
    command: "Command", monkeypatch: pytest.MonkeyPatch
) -> None:
    with provider() as first:
        monkeypatch.setenv("OPENAI_BASE_URL", first.openai_url)
        with first.failing(status=401):
            assert command(*RUN).exit_code == 3
    with provider() as second:
        monkeypatch.setenv("OPENAI_BASE_URL", second.openai_url)
        assert command(*RESUME).exit_code == 0


def test_a_judge_at_another_server_is_another_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    def key_at(url: str | None) -> str:
        if url is None:
            monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
        else:
            monkeypatch.setenv("OPENAI_BASE_URL", url)
        return find_judges(["openai:gpt-6-luna"])[0].key

    known = [key_at(None), key_at("http://127.0.0.1:1/v1"), key_at("http://127.0.0.1:2/v1")]
    assert len(set(known)) == 3
    # What is stored without an address counts for the vendor's own server.
    [judge] = find_judges(["openai:gpt-6-luna"]) if key_at(None) else []
    assert "server" not in judge.description
    assert key_at("https://api.openai.com/v1") == known[0]
