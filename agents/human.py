"""Human: a person at the terminal. How much would you remember?"""

import asyncio
import sys

from ltm_bench import Agent, AgentError, Message, Reply


class Human(Agent):
    """Shows every message, and takes one line as the reply. End of input stops the run, which can be resumed."""

    free = True
    interactive = True

    def __init__(self, *, prompt: str = "> ") -> None:
        self._prompt = prompt

    async def reply(self, message: Message) -> Reply:
        """Show the message and read a line."""
        shown = "".join(c if c.isprintable() or c == "\n" else " " for c in message.text)
        sys.stdout.write(f"\n[{message.at:%A %d %B %Y, %H:%M}]\n{shown}\n{self._prompt}")
        sys.stdout.flush()
        line = await _line()
        if not line:
            raise AgentError("nobody is there any more (the input has ended)")
        return Reply(line.rstrip("\n"))


async def _line() -> str:
    """Read a line. At a terminal nothing is waited for in a thread, which would outlast an interruption."""
    if sys.platform == "win32" or not sys.stdin.isatty():
        return await asyncio.to_thread(sys.stdin.readline)
    loop, typed = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(sys.stdin, typed.set)
    try:
        await typed.wait()
    finally:
        loop.remove_reader(sys.stdin)
    return sys.stdin.readline()
