#!/usr/bin/env bash
# anthropic 2.14.0: a part of an answer that the SDK does not know is a TextBlock whose text is None.
#
# Guess:     a part of an unknown kind is left out, or is an object of a class of its own, or a plain dictionary.
# Behaviour: it becomes the first class of the union: `isinstance(block, TextBlock)` is true, `block.type` is the server's
#            word, `block.text` is None although it is declared `str`. Joining the texts of all TextBlocks raises TypeError;
#            only a look at `block.type` tells.
# Output:    messages: TextBlock, type 'some_new_part', text None
#            beta.messages: BetaTextBlock, type 'some_new_part', text None
# Matters:   servers behind the same protocol (routers, compatible endpoints, betas of memory tools) send new parts any day. A
#            harness that picks by class crashes in the middle of a long conversation, or takes None for an empty reply.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check anthropic==2.14.0
"$folder/venv/bin/python" - <<'PYTHON'
import json, threading
from http.server import BaseHTTPRequestHandler, HTTPServer
import anthropic

ANSWER = {"id": "1", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn",
          "content": [{"type": "some_new_part", "from": "a memory"}, {"type": "text", "text": "The door is green."}],
          "usage": {"input_tokens": 9, "output_tokens": 4}}

class Server(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        body = json.dumps(ANSWER).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass

server = HTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
client = anthropic.Anthropic(base_url=f"http://127.0.0.1:{server.server_port}", api_key="none")
for name, api, kind in (
    ("messages", client.messages, anthropic.types.TextBlock),
    ("beta.messages", client.beta.messages, anthropic.types.beta.BetaTextBlock),
):
    block = api.create(model="m", max_tokens=9, messages=[{"role": "user", "content": "Which colour?"}]).content[0]
    print(f"{name}: {type(block).__name__}, type {block.type!r}, text {block.text!r}")
    assert isinstance(block, kind) and block.type == "some_new_part" and block.text is None, "changed"
PYTHON
