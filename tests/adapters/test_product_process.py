"""A product in a process of its own: commands, questions, failures, and the end."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from ltm_bench.adapters.memories.product_process import ProcessFailed, ProductProcess

PRODUCT = """
import json, os, sys
def write(**content):
    print(json.dumps(content), flush=True)
def read():
    return json.loads(sys.stdin.readline())
write(version="1.0")
while True:
    order = read()
    if order["do"] == "double":
        write(ask=1, number=order["with"]["number"])
        answer = read()
        write(done=answer["answer"]) if "answer" in answer else write(error="it got " + answer["failed"])
    elif order["do"] == "ignore":
        write(ask=7)
        read()
        write(done="anyway")
    elif order["do"] == "where":
        write(done=[os.getcwd(), os.environ.get("COLOUR"), os.environ.get("PATH")])
    elif order["do"] == "fail":
        write(error="ValueError: no")
    elif order["do"] == "die":
        sys.exit("torn away, sk-not-a-key-0123456789")
    elif order["do"] == "wonder":
        write(ask=2, number=1)
        sys.stdin.read()
    elif order["do"] == "hang":
        sys.stdin.read()
"""


async def doubled(question: Mapping[str, Any]) -> Any:
    return 2 * question["number"]


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., Any]:
    """Run a test's steps with a process, and end it."""
    (tmp_path / "product.py").write_text(PRODUCT, "utf-8")

    def run(
        steps: Callable[[ProductProcess], Awaitable[Any]], python: str = sys.executable, answer: Any = doubled
    ) -> Any:
        environment = {"COLOUR": "red", "SYSTEMROOT": os.environ.get("SYSTEMROOT", "")}
        script, log = tmp_path / "product.py", tmp_path / "log"
        process = ProductProcess(python, script, environment, log, answer)

        async def talk() -> Any:
            try:
                assert await process.start(tmp_path) == {"version": "1.0"}
                return await steps(process)
            finally:
                await process.close()

        return asyncio.run(talk())

    return run


def test_it_carries_out_commands_in_its_folder_with_its_environment_alone(
    run: Callable[..., Any], tmp_path: Path
) -> None:
    folder, colour, path = run(lambda process: process.call("where", {}))
    assert Path(folder) == tmp_path.resolve()
    assert (colour, path) == ("red", None)


def test_a_question_is_answered_before_the_command_ends(run: Callable[..., Any]) -> None:
    async def steps(process: ProductProcess) -> list[Any]:
        return list(await asyncio.gather(*(process.call("double", {"number": n}) for n in range(3))))

    assert run(steps) == [0, 2, 4]


def test_a_question_without_an_answer_is_kept_and_the_product_gets_only_its_kind(
    run: Callable[..., Any],
) -> None:
    async def refuse(_: Mapping[str, Any]) -> Any:
        raise PermissionError("the key was sk-not-a-key-0123456789")

    async def steps(process: ProductProcess) -> None:
        with pytest.raises(ProcessFailed, match=r"^it got PermissionError$"):
            await process.call("double", {"number": 1})
        assert isinstance(process.failure, PermissionError)
        assert await process.call("ignore", {}) == "anyway"
        assert isinstance(process.failure, PermissionError)
        await process.call("where", {})
        assert process.failure is None

    run(steps, answer=refuse)


def test_a_failed_command_leaves_it_running_and_a_dead_process_is_described(
    run: Callable[..., Any], key: str
) -> None:
    async def steps(process: ProductProcess) -> None:
        assert not process.busy
        with pytest.raises(ProcessFailed, match=r"^ValueError: no$"):
            await process.call("fail", {})
        assert process.busy
        with pytest.raises(ProcessFailed, match="ended with code 1, saying: torn away") as died:
            await process.call("die", {})
        assert key not in str(died.value)
        with pytest.raises(ProcessFailed, match="its process has ended"):
            await process.call("where", {})

    run(steps)


def test_an_interrupted_command_ends_the_process(run: Callable[..., Any]) -> None:
    async def steps(process: ProductProcess) -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(process.call("hang", {}), 0.2)
        with pytest.raises(ProcessFailed, match="its process has ended"):
            await process.call("where", {})

    run(steps)


@pytest.mark.parametrize("idle", ["hang", "wonder"])
def test_a_process_that_does_nothing_is_given_up_also_after_its_question_was_answered(
    run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, idle: str
) -> None:
    async def steps(process: ProductProcess) -> None:
        monkeypatch.setattr("ltm_bench.adapters.memories.product_process._PATIENCE", 0.1)
        with pytest.raises(ProcessFailed, match=r"did nothing for 0\.1 seconds"):
            await process.call(idle, {})

    run(steps)


def test_a_python_that_is_not_there_is_a_failure(run: Callable[..., Any], tmp_path: Path) -> None:
    with pytest.raises(ProcessFailed, match="No such file or directory"):
        run(lambda process: process.call("where", {}), python=str(tmp_path / "python"))
