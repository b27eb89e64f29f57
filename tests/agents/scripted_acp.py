"""An agent of the Agent Client Protocol, by the SDK's own server side: it quotes what it heard, or misbehaves.

Its sessions are files in its home, like those of real ones. The first argument says how it misbehaves, the prompt when.
"""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import acp
from acp import schema

from ltm_bench.adapters.testing import quote

MODE = sys.argv[1] if len(sys.argv) > 1 else ""
STOPS: dict[str, Any] = {
    "cut": "max_tokens",
    "long": "max_turn_requests",
    "declines": "refusal",
    "gives up": "cancelled",
}


class Quoting:
    """Answers like the test provider."""

    def on_connect(self, conn: acp.Client) -> None:
        self.client = conn

    async def initialize(self, protocol_version: int, **_: Any) -> acp.InitializeResponse:
        able = schema.AgentCapabilities(load_session=MODE != "forgets")
        about = schema.Implementation(name="quoting", version="1.0")
        return acp.InitializeResponse(
            protocol_version=protocol_version, agent_capabilities=able, agent_info=about
        )

    async def new_session(self, cwd: str, **_: Any) -> acp.NewSessionResponse:
        assert Path(cwd).is_relative_to(Path.home().parent)
        Path.home().joinpath("one.json").write_text("[]", "utf-8")
        return acp.NewSessionResponse(session_id="one")

    async def load_session(self, cwd: str, session_id: str, **_: Any) -> acp.LoadSessionResponse:
        for turn in json.loads(self._file(session_id).read_text("utf-8")):
            await self._say(session_id, turn["content"])
        return acp.LoadSessionResponse()

    def _file(self, session_id: str) -> Path:
        return Path.home() / f"{session_id}.json"

    async def _say(self, session_id: str, text: str) -> None:
        await self.client.session_update(session_id, acp.update_agent_message_text(text))

    async def prompt(self, session_id: str, prompt: list[Any], **_: Any) -> acp.PromptResponse:
        text = "".join(each.text for each in prompt)
        if MODE and "misbehave" in text:
            await self._misbehave(session_id)
        file = self._file(session_id)
        missed, _stamp, question = text.rpartition("]\n")
        told = [line.removeprefix("User: ") for line in missed.splitlines() if line.startswith("User: ")]
        said: list[Any] = json.loads(file.read_text("utf-8"))
        said += [{"role": "user", "content": each} for each in (*told, question)]
        answer = quote(said)
        await self.client.session_update(session_id, acp.update_agent_thought_text("Hm."))
        for piece in (answer[:7], answer[7:]):
            await self._say(session_id, piece)
        file.write_text(json.dumps([*said, {"role": "assistant", "content": answer}]), "utf-8")
        return acp.PromptResponse(stop_reason=STOPS.get(MODE, "end_turn"))

    async def _misbehave(self, session_id: str) -> None:
        if MODE == "hangs":
            (Path.home() / "half.txt").write_text("half", "utf-8")
            child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
            Path(os.environ["TOLD"]).write_text(str(child.pid), "utf-8")
            await asyncio.sleep(600)
        elif MODE in ("leaves a child", "leaves a daemon"):
            detached = MODE == "leaves a daemon"
            child = subprocess.Popen(
                [sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=detached
            )
            Path(os.environ["TOLD"]).write_text(str(child.pid), "utf-8")
            os._exit(7)
        elif MODE == "dies":
            sys.stderr.write("out of cheese\n")
            sys.stderr.flush()
            os._exit(7)
        elif MODE == "floods":
            os.set_blocking(1, True)  # asyncio has changed that
            os.write(1, b'{"jsonrpc": "2.0", "text": "')
            for _ in range(100):
                os.write(1, b"x" * 1_000_000)
            os.write(1, b'"}\n')
        elif MODE == "drips":
            for _ in range(100):
                await self._say(session_id, "x" * 100_000)
        elif MODE == "errs":
            raise acp.RequestError.internal_error(
                {"details": "the model is gone\nand sk-planted-0123456789abcdefgh"}
            )
        elif MODE == "chats":
            sys.stdout.write("Welcome!\n[1, 2]\n{\n" + '{"jsonrpc": "2.0", "method": "session/update"}\n')
            sys.stdout.flush()
        elif MODE == "asks":
            await self._ask(session_id)

    async def _ask(self, session_id: str) -> None:
        """Ask for permissions and files, and say what came of it."""
        options = [
            schema.PermissionOption(option_id=kind, name=kind, kind=kind)
            for kind in ("allow_always", "allow_once", "reject_once")
        ]
        for kind in ("read", "execute"):
            call = schema.ToolCallUpdate(tool_call_id=kind, kind=kind)
            got = await self.client.request_permission(session_id=session_id, tool_call=call, options=options)
            await self._say(session_id, f"{kind}: {getattr(got.outcome, 'option_id', 'nothing')}. ")
        here = Path.cwd()
        await self.client.write_text_file(
            session_id=session_id, path=str(here / "a/b.txt"), content="1\n2\n3\n"
        )
        read = await self.client.read_text_file(
            session_id=session_id, path=str(here / "a/b.txt"), line=2, limit=1
        )
        await self._say(session_id, f"line: {read.content.strip()}. ")
        for path in ("/etc/hostname", str(here / "../home/one.json"), str(here / "nothing.txt")):
            try:
                await self.client.read_text_file(session_id=session_id, path=path)
                await self._say(session_id, "LEAKED. ")
            except acp.RequestError:
                await self._say(session_id, "no. ")
        await self.client.session_update(session_id, acp.start_tool_call("t", "looks", kind="read"))


if __name__ == "__main__":
    agent: Any = Quoting()  # the methods that it lacks are answered for it
    asyncio.run(acp.run_agent(agent))
