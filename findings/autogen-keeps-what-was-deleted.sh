#!/usr/bin/env bash
# autogen-agentchat 0.7.5: a memory is told to the model again at every turn, and stays there when it is deleted.
#
# Guess:     what the memory finds for a turn stands in that turn's prompt; a cleared memory is gone.
# Behaviour: AssistantAgent writes the found memories into the model's context as one more system message, turn after turn,
#            and none is taken out. ListMemory finds everything whatever is asked. So the tenth turn holds a memory ten
#            times, and after `clear()` the model still reads it.
# Output:    times the boat stands in the prompt, turn by turn: 1, 2, 3; after clear(): 3
# Matters:   a test of deletion asks the model, not the store, and finds the secret. Prompts grow by the whole memory at each
#            turn, so tokens beside a score say more of the turns before than of the memory.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check autogen-agentchat==0.7.5 autogen-ext==0.7.5
"$folder/venv/bin/python" - <<'PYTHON'
import asyncio

from autogen_agentchat.agents import AssistantAgent
from autogen_core.memory import ListMemory, MemoryContent
from autogen_ext.models.replay import ReplayChatCompletionClient

seen = []

class Listening(ReplayChatCompletionClient):
    async def create(self, messages, **options):
        seen.append(sum("Zebedee" in str(message.content) for message in messages))
        return await super().create(messages, **options)

async def main():
    memory = ListMemory()
    await memory.add(MemoryContent(content="The boat is called Zebedee.", mime_type="text/plain"))
    abilities = dict.fromkeys(("vision", "function_calling", "json_output", "structured_output"), False)
    model = Listening(["Fine."] * 4, model_info={**abilities, "family": "unknown"})
    agent = AssistantAgent("agent", model_client=model, memory=[memory])
    for turn in range(3):
        await agent.run(task=f"Turn {turn}: how are you?")
    await memory.clear()
    assert not (await memory.query("boat")).results
    await agent.run(task="What is the boat called?")

asyncio.run(main())
print(f"times the boat stands in the prompt, turn by turn: {seen[:3]}; after clear(): {seen[3]}")
assert seen == [1, 2, 3, 3], "changed"
PYTHON
