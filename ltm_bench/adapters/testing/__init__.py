"""A model provider on this machine for testing adapters: it speaks three protocols, and fails on demand.

    from ltm_bench.adapters.testing import provider

    with provider() as server:
        server.fail(status=429)     # the first request fails, the second is answered
        agent = OpenAIChat(model="any", base_url=server.openai_url)

It speaks OpenAI's Chat Completions, Responses and Embeddings and Anthropic's Messages, as far as adapters need them.
Requests are recorded in order of arrival. Usage is real (counted with the built-in counter), and so is the prompt
cache: the longest prefix of messages shared with an earlier request to the same model, from the provider's minimum on.
Anthropic's follows its published rules: breakpoints, a look-back of 20 blocks, two lifetimes.

- `provider` runs the server for as long as a block lasts.
- `Provider` is its state and its switches: `answer`, `context`, `faults`, `fail`, `requests`, `models`, `edit`.
- `Fault` says what happens to one request instead of an answer; `RecordedRequest` is a recorded request.
- `quote` is the default answer: the sentence of the conversation nearest to the newest message. `Calls` is a reply that
  calls tools, and `keep_files` a whole model that does: it stores what it is told with Claude's memory tool.
- `conformance` checks the rules that the benchmark relies on; `Conformance` is its result, `Failing` a server of your
  own that it can make fail.
- `Handler` and `Server` are the server itself, for stand-ins of other products that speak these protocols.
"""

from ltm_bench.adapters.testing.conforming import Conformance, conformance
from ltm_bench.adapters.testing.faults import Fault, FaultKind, RecordedRequest, Said
from ltm_bench.adapters.testing.protocols import Calls
from ltm_bench.adapters.testing.provider import Answer, Provider, quote
from ltm_bench.adapters.testing.remembering import keep_files
from ltm_bench.adapters.testing.server import Handler, Server, provider
from ltm_bench.adapters.testing.talk import Failing

Request = RecordedRequest
"""Its name until 0.2.0."""

__all__ = [
    "Answer",
    "Calls",
    "Conformance",
    "Failing",
    "Fault",
    "FaultKind",
    "Handler",
    "Provider",
    "RecordedRequest",
    "Request",
    "Said",
    "Server",
    "conformance",
    "keep_files",
    "provider",
    "quote",
]
