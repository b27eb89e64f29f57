"""A model provider on this machine, to test adapters with: speaks three protocols, and fails when it is told to.

    from ltm_bench.adapters.testing import provider

    with provider() as server:
        server.fail(status=429)     # the first request fails, the second is answered
        agent = OpenAIChat(model="any", base_url=server.openai_url)

It speaks OpenAI's Chat Completions, Responses and Embeddings and Anthropic's Messages, as far as adapters need them.
Requests are recorded in the order of their arrival. Usage is real (counted with the shipped counter), and so is the
prompt cache: the longest run of messages that an earlier request to the same model began with, from the provider's
minimum on; Anthropic's holds only what a request with `cache_control` has put there.

- `provider` runs the server for as long as a block lasts.
- `Provider` is its state and its switches: `answer`, `context`, `faults`, `fail`, `requests`, `models`, `edit`.
- `Fault` says what happens to one request in place of an answer; `Request` is one that was recorded.
- `quote` is the usual answer: the sentence of the conversation that is nearest to the newest message. `Calls` is a
  reply that calls tools, and `keep_files` a whole model that does: it keeps what it is told with Claude's memory tool.
- `conformance` tries whether an adapter keeps to what the benchmark relies on; `Conformance` is what it found,
  `Failing` a server of your own that it can let fail.
- `Handler` and `Server` are the server itself, for stand-ins of other products that speak these protocols.
"""

from ltm_bench.adapters.testing.conforming import Conformance, conformance
from ltm_bench.adapters.testing.faults import Fault, FaultKind, Request, Said
from ltm_bench.adapters.testing.protocols import Calls
from ltm_bench.adapters.testing.provider import Answer, Provider, quote
from ltm_bench.adapters.testing.remembering import keep_files
from ltm_bench.adapters.testing.server import Handler, Server, provider
from ltm_bench.adapters.testing.talk import Failing

__all__ = [
    "Answer",
    "Calls",
    "Conformance",
    "Failing",
    "Fault",
    "FaultKind",
    "Handler",
    "Provider",
    "Request",
    "Said",
    "Server",
    "conformance",
    "keep_files",
    "provider",
    "quote",
]
