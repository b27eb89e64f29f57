"""Letta Code: an agent on this machine, with a shell, and with its own memory in files under git.

    --agent letta_code -A model=anthropic/claude-haiku-5-5

Its program (`letta -p --agent …`, local backend) is started once, and takes the messages as JSON lines; its home is in
the run's folder. The model calls tools as it likes, and remembers what it writes to its memory files and commits. If a
conversation outgrows `window`, Letta summarises its older parts, and reports no usage for that. Every user has a
separate agent.

**The agent has a shell, and asks nobody before it uses it.** Run it in a container, or leave `Bash`, `Edit` and `Write`
out of `tools`: then it has only its conversation, since nothing else writes its memory.

Letta Code cannot take a turn that was answered elsewhere, so an observed turn is handed over with the next message.
"""

import asyncio
import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ltm_bench import AgentError, Finding, Memory, Reply, Turn, Usage
from ltm_bench.adapters import (
    EXAMINING,
    ConfigError,
    Endpoint,
    ProgramAgent,
    at_least,
    end_program,
    is_about,
    json_of,
    scrubbed,
    usage_of,
)

_TOOLS = "Bash,Edit,Memory,Read,Write"
"""These let it read and change its memory, and search old messages (`letta messages search`)."""

_FLAGS = (
    *("--backend", "local", "--conversation", "default"),
    *("--input-format", "stream-json", "--output-format", "stream-json"),
    *("--no-skills", "--no-mods", "--reflection-trigger", "off"),
    "--no-system-info-reminder",  # it would give this machine's time instead of the benchmark's
)

_SWITCHES = {
    "DISABLE_AUTOUPDATER": "1",
    "DO_NOT_TRACK": "1",
    "LETTA_CODE_TELEM": "0",
    "LETTA_CODE_OFFLINE": "1",  # downloads no tools
    "LETTA_SKIP_KEYCHAIN_CHECK": "1",
    "TZ": "UTC",
}

_PASSED_ON = ("LANG", "LC_ALL", "NODE_EXTRA_CA_CERTS", "SSL_CERT_DIR", "SSL_CERT_FILE", "SYSTEMROOT")
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")

_VENDORS = {
    "openai": ("https://api.openai.com/v1", "OPENAI_API_KEY"),
    "anthropic": ("https://api.anthropic.com", "ANTHROPIC_API_KEY"),
}
"""Where the models of these providers are, and the variable that holds the key."""

_LONGEST = 1 << 26
"""Maximum bytes of a line that the program prints."""


class LettaCode(ProgramAgent):
    """One agent of Letta Code for each user.

    Args:
        model: openai/NAME or anthropic/NAME; with `base_url`, the name under which that server lists it.
        base_url: A server that speaks OpenAI's Chat Completions, and lists its models; its key is OPENAI_API_KEY.
        command: The program; default: `letta` beside this Python, or on the PATH.
        personality: The initial content of the agent's memory: blank, letta-code, tutorial, linus, kawaii, claude,
        codex.
        tools: The tools that it may use, separated by commas.
        window: Tokens of its context, Letta's own instructions (about 6,000) and summary included.
        max_output: Maximum tokens of one answer of the model.
        timeout: Seconds to wait for one reply, all tool calls and Letta's own retries included.
    """

    FOLDER = "letta"
    LOCKS = "backend/memfs/*/memory/.git/*.lock*"
    NAME = "Letta Code"

    def __init__(
        self,
        *,
        model: str,
        base_url: str | None = None,
        command: str = "letta",
        personality: str = "blank",
        tools: str = _TOOLS,
        window: int = 32_000,
        max_output: int = 4096,
        timeout: float = 600.0,
    ) -> None:
        super().__init__(window)
        at_least("letta_code", window=(window, 12_000), max_output=(max_output, 16))
        self._endpoint, self._handle, self._variables = _model(model, base_url, timeout)
        self.connections = self._endpoint.connections
        self._words = shlex.split(command)
        if not self._words:
            raise ConfigError("letta_code: command is empty; leave it out, or name the program")
        self._personality, self._tools = personality, tools
        self._window, self._max_output, self._timeout = window, max_output, timeout
        self._agents: dict[str | None, str] = {}
        self._running: dict[str | None, asyncio.subprocess.Process] = {}

    # The program

    async def open(self, home: Path) -> None:
        """Make the agent of a new conversation. Raises ConfigError if the program is missing."""
        await super().open(home)
        self._program()
        if not self._journal.exists:
            await self._agent(None)

    def _program(self) -> str:
        beside = str(Path(sys.executable).parent)
        found = shutil.which(
            self._words[0], path=os.pathsep.join([beside, os.environ.get("PATH", os.defpath)])
        )
        if found is None:
            raise ConfigError(
                f"letta_code: there is no program {self._words[0]!r}; pip install 'ltm-bench[letta-code]', or "
                "npm install -g @letta-ai/letta-code"
            )
        return found

    def _environment(self, root: Path) -> dict[str, str]:
        """Return the variables of the program, and of the shell it gives to the agent: no key but the model's."""
        path = os.pathsep.join([str(Path(self._program()).parent), os.environ.get("PATH", os.defpath)])
        names = (*_PASSED_ON, *_PROXIES, *map(str.lower, _PROXIES))
        own = {name: value for name in names if (value := os.environ.get(name))}
        places = {
            "HOME": str(root / "home"),
            "LETTA_LOCAL_BACKEND_DIR": str(root / "backend"),
            "TMPDIR": str(self._home / "tmp"),  # it leaves a folder there every time
        }
        return {**own, **_SWITCHES, **self._variables, **places, "PATH": path}

    async def _start(self, root: Path, *words: str) -> asyncio.subprocess.Process:
        """Start the program in an agent's folder."""
        for each in (root / "home", root / "work", self._home / "tmp"):
            each.mkdir(parents=True, exist_ok=True)
        return await asyncio.create_subprocess_exec(
            *(self._program(), *self._words[1:], *words),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,  # its warnings are not JSON
            cwd=root / "work",
            env=self._environment(root),
            limit=_LONGEST,
            start_new_session=True,
        )

    async def _run(self, root: Path, *words: str) -> dict[str, Any]:
        """Run one of its commands, and return the object that it prints. Raises AgentError."""
        process = await self._start(root, *words)
        try:
            async with asyncio.timeout(self._timeout):
                printed, _ = await process.communicate()
        except TimeoutError:
            raise self._endpoint.timed_out() from None
        finally:
            await end_program(process)
        said = printed.decode("utf-8", "replace")
        if process.returncode or "{" not in said:
            raise self._failed(said)
        return _object_in(said[said.index("{") :])

    async def _say(self, user: str | None, text: str) -> Reply:
        """Send a text to a user's agent, and wait for the end of its turn. Raises AgentError."""
        if user not in self._running:
            words = ("-p", "--agent", await self._agent(user), *_FLAGS, "--tools", self._tools)
            self._running[user] = await self._start(self._folder(user).root, *words)
        process = self._running[user]
        assert process.stdin is not None
        assert process.stdout is not None
        wrong, spent = "", list[Usage | None]()
        try:
            async with asyncio.timeout(self._timeout):
                told = {"type": "user", "message": {"role": "user", "content": text}}
                process.stdin.write(json.dumps(told).encode() + b"\n")
                await process.stdin.drain()
                async for line in process.stdout:
                    if not line.startswith(b"{"):
                        wrong = wrong or line.decode("utf-8", "replace")
                        continue
                    found = _object_in(line.decode("utf-8", "replace"))
                    if found.get("message_type") == "usage_statistics":
                        spent.append(self._usage(found))
                    elif found.get("type") == "error":
                        wrong = str(found.get("message"))
                    elif found.get("type") == "result":
                        if found.get("subtype") != "success":
                            break
                        used = [each for each in spent if each is not None]
                        known = used and len(used) == len(spent)
                        return Reply(
                            str(found.get("result") or ""), sum(used[1:], used[0]) if known else None
                        )
        except TimeoutError:
            raise self._endpoint.timed_out() from None
        except (BrokenPipeError, ConnectionResetError):
            pass
        raise self._failed(wrong)

    async def _stop(self, user: str | None) -> None:
        """End the program of a user's agent before anything else changes its files."""
        if (process := self._running.pop(user, None)) is not None:
            await end_program(process)
            for lock in self._folder(user).root.glob(self.LOCKS):  # nobody holds it any more
                lock.unlink()

    def _failed(self, said: str) -> AgentError:
        line = re.sub(r"\s+", " ", scrubbed(said, [self._endpoint.key])).strip()
        return AgentError(
            f"{self._endpoint.model} in Letta Code: {line[:300] or 'it ended without output'}; check the model, its "
            "key and base_url, or resume the run later"
        )

    async def _agent(self, user: str | None) -> str:
        """Return the user's agent; create it if it does not exist."""
        root = self._folder(user).root
        if user not in self._agents:
            known = sorted(each.name for each in (root / "backend" / "memfs").glob("agent-*"))
            self._agents[user] = known[0] if known and self._recorded.get(user) else await self._make(root)
        return self._agents[user]

    async def _make(self, root: Path) -> str:
        shutil.rmtree(root, ignore_errors=True)  # left by a failed attempt
        create = ("--name", "ltm-bench", "--model", self._handle, "--personality", self._personality)
        made = await self._run(root, "--backend", "local", "agents", "create", *create)
        agent = str(made["id"])
        sizes = json.dumps({"context_window_limit": self._window, "max_tokens": self._max_output})
        chosen = ("--default", "--agent", agent, "--model-settings", sizes)
        await self._run(root, "--backend", "local", "model", "set", *chosen)
        return agent

    def _usage(self, spent: Mapping[str, Any]) -> Usage | None:
        """Return the usage of one request; Letta's prompt tokens exclude those in the cache.

        None if the server reported none: Letta then prints zeros, and no prompt is empty.
        """
        read, written = spent.get("cached_input_tokens") or 0, spent.get("cache_write_tokens") or 0
        if not spent["prompt_tokens"] + read + written:
            return None
        priced = self._endpoint.is_list_priced
        return usage_of(
            prompt=spent["prompt_tokens"] + read + written,
            output=spent["completion_tokens"],
            cache_read=read,
            cache_write=written,
            reasoning=spent.get("reasoning_tokens") or 0,
            model=self._endpoint.model,
            provider=self._handle.partition("/")[0] if priced else None,
        )

    async def restore(self, turns: Iterable[Turn]) -> None:
        """Give every agent the files that it had after these turns. Raises CannotResume if they are gone."""
        self._agents.clear()
        await super().restore(turns)

    async def _put(self, user: str | None, files: Mapping[str, bytes]) -> None:
        """Give a user's agent these files."""
        await super()._put(user, files)
        self._agents.pop(user, None)
        for hook in self._folder(user).root.glob("backend/memfs/*/memory/.git/hooks/*"):
            hook.chmod(0o755)

    # Its memory

    def _notes(self) -> Iterator[tuple[str | None, Path]]:
        """Iterate over the agents' memory files."""
        users = {None, *self._agents, *self._pending}
        for user in sorted(users, key=str):
            for memory in sorted(self._folder(user).root.glob("backend/memfs/*/memory")):
                for path in sorted(memory.rglob("*")):
                    if path.is_file() and ".git" not in path.relative_to(memory).parts:
                        yield user, path

    async def memories(self) -> AsyncIterator[Memory]:
        """Iterate over the lines of all memory files."""
        for user, path in self._notes():
            name = path.relative_to(self._folder(user).root / "backend" / "memfs").as_posix()
            for number, line in enumerate(path.read_text("utf-8", "replace").splitlines(), start=1):
                if line.strip(" -"):
                    yield Memory(line.strip(), id=f"{user or ''}:{name}:{number}", user=user)

    async def forget(self, query: str) -> int:
        """Delete the lines about something from all memory files; the conversation still shows what was said."""
        gone = 0
        for user in {user for user, _ in self._notes()}:
            await self._files(user)  # it is at rest
            await self._stop(user)
            for path in [path for of, path in self._notes() if of == user]:
                lines = path.read_text("utf-8", "replace").splitlines(keepends=True)
                left = [line for line in lines if not is_about(line, query)]
                if len(left) < len(lines):
                    gone += len(lines) - len(left)
                    path.write_text("".join(left), "utf-8")
                    await self._commit(path)
            await self._record(user)
        return gone

    async def _commit(self, path: Path) -> None:
        """Commit a changed memory file, since the agent's prompt holds the last commit."""
        who = ("-c", "user.name=ltm-bench", "-c", "user.email=ltm-bench@localhost")
        process = await asyncio.create_subprocess_exec(
            *("git", *who, "commit", "--quiet", "--no-verify", "-m", "Forget", "--", path.name),
            cwd=path.parent,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        if await process.wait():
            raise AgentError(f"letta_code: git could not commit {path}; look at it with git status")

    async def close(self) -> None:
        """End the programs; the agents' files stay in the run's folder."""
        for user in list(self._running):
            await self._stop(user)
        shutil.rmtree(self._home / "tmp", ignore_errors=True)

    async def examine(self) -> Sequence[Finding]:
        """Check that git and the program are installed, and that the program is Letta Code."""
        found = [_there("git")]
        try:
            program = self._program()
        except ConfigError as error:
            return [*found, Finding(False, str(error))]
        process = await asyncio.create_subprocess_exec(
            *(program, *self._words[1:], "--version"),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env={**os.environ, **_SWITCHES},
        )
        try:
            async with asyncio.timeout(EXAMINING):
                printed, _ = await process.communicate()
        except TimeoutError:
            process.kill()
            await process.wait()
            printed = b""
        version = printed.decode("utf-8", "replace").strip()
        known = "Letta Code" in version
        said = version if known else f"{program} is not Letta Code; name it with command"
        return [*found, Finding(known, said)]


def _there(program: str) -> Finding:
    found = shutil.which(program) is not None
    return Finding(
        found, f"{program} is there" if found else f"there is no {program}, which Letta Code needs"
    )


def _model(model: str, base_url: str | None, timeout: float) -> tuple[Endpoint, str, dict[str, str]]:
    """Return the model's address, Letta's name for it, and the variables with which Letta calls it."""
    provider, _, name = model.partition("/")
    # what Letta calls LM Studio is any server of this protocol, set by two variables
    if base_url is not None:
        endpoint = Endpoint.openai(model, base_url=base_url, timeout=timeout, max_retries=0)
        own = {"LMSTUDIO_BASE_URL": endpoint.url, "LMSTUDIO_API_KEY": endpoint.key}
        return endpoint, f"lmstudio/{model}", own
    if provider not in _VENDORS or not name:
        raise ConfigError(
            f"letta_code: model = {model!r}; write openai/NAME or anthropic/NAME, or set base_url to a server that "
            "speaks OpenAI's protocol"
        )
    url, variable = _VENDORS[provider]
    endpoint = Endpoint(
        model=name,
        base_url=url,
        url_variable="",
        vendor_url=url,
        key_variable=variable,
        timeout=timeout,
        max_retries=0,
    )
    return endpoint, model, {variable: endpoint.key}


def _object_in(printed: str) -> dict[str, Any]:
    """Return the object that the program prints. Raises AgentError."""
    try:
        found = json_of(printed)
    except ValueError as error:
        raise AgentError(
            f"Letta Code printed something other than JSON: {scrubbed(printed[:200])!r}"
        ) from error
    if not isinstance(found, dict):
        raise AgentError(
            f"Letta Code printed something other than a JSON object: {scrubbed(printed[:200])!r}"
        )
    return found
