#!/usr/bin/env bash
# pydantic-ai-slim 2.68.0: a whole reply is refused if its usage lacks the total, and reasoning that only the total holds is lost.
#
# Guess:     a reply whose text is whole comes, with whatever figures its server stated; the total agrees with the parts.
# Behaviour: with OpenAI's Chat Completions, a `usage` without `total_tokens` raises UnexpectedModelBehavior, and the reply, which
#            was paid for, is lost. Where the total is larger than prompt and completion together, as with servers that bill
#            reasoning beside the completion, the difference is in no figure.
# Output:    100 in, 7 out, total 107: input 100, output 7
#            100 in, 7 out, total 157: input 100, output 7
#            100 in, 7 out, no total: UnexpectedModelBehavior
# Matters:   a memory that is driven through it costs less on the record than on the bill, by as much as its model thinks; and
#            one behind a small server fails every question, as though it remembered nothing.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "pydantic-ai-slim[openai]==2.68.0" openai==3.57.0
"$folder/venv/bin/python" - <<'PYTHON'
import json, threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pydantic_ai.direct import model_request_sync
from pydantic_ai.exceptions import UnexpectedModelBehavior
from pydantic_ai.messages import ModelRequest
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

stated = {}

class Server(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        message = {"role": "assistant", "content": "The door is green."}
        body = json.dumps({
            "id": "1", "object": "chat.completion", "created": 1, "model": "some-model", "usage": stated,
            "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
        }).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass

server = HTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
provider = OpenAIProvider(base_url=f"http://127.0.0.1:{server.server_port}/v1", api_key="none")
model = OpenAIChatModel("some-model", provider=provider)

def ask(**usage):
    stated.clear()
    stated.update(usage)
    try:
        used = model_request_sync(model, [ModelRequest.user_text_prompt("Which colour is the door?")]).usage
    except UnexpectedModelBehavior as error:
        return type(error).__name__
    return f"input {used.input_tokens}, output {used.output_tokens}"

parts = {"prompt_tokens": 100, "completion_tokens": 7}
seen = [ask(**parts, total_tokens=107), ask(**parts, total_tokens=157), ask(**parts)]
for said, found in zip(("total 107", "total 157", "no total"), seen, strict=True):
    print(f"100 in, 7 out, {said}: {found}")
assert seen == ["input 100, output 7", "input 100, output 7", "UnexpectedModelBehavior"], "changed"
PYTHON
