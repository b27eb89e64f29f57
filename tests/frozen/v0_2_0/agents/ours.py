"""Ours: a chat server of our own, with the conversation in a window."""

from pathlib import Path

import httpx2

from ltm_bench import Reply
from ltm_bench.adapters import ChatModel, Endpoint, Prompt, client, usage_of


class Ours(ChatModel):
    def __init__(
        self,
        *,
        model: str,
        base_url: str = "http://localhost:8000/v1",
        window: int = 32_000,
        timeout: float = 60.0,
        max_retries: int = 2,
    ) -> None:
        endpoint = Endpoint.openai(model, base_url=base_url, timeout=timeout, max_retries=max_retries)
        super().__init__(endpoint, window=window, max_output=1024, ratio=1.25)

    async def open(self, home: Path) -> None:
        self._http = client(httpx2.AsyncClient, base_url=self.endpoint.url, timeout=self.endpoint.timeout)

    async def ask(self, prompt: Prompt) -> Reply:
        body = prompt.request({"model": self.model}, "messages", system=True)
        with self.endpoint.explaining():
            answer = (await self._http.post("chat/completions", content=body)).raise_for_status().json()
            said, spent = answer["choices"][0]["message"]["content"], answer["usage"]
        used = usage_of(
            prompt=spent["prompt_tokens"], output=spent["completion_tokens"], model=self.model, provider=None
        )
        return Reply(said, used)

    async def close(self) -> None:
        await self._http.aclose()
