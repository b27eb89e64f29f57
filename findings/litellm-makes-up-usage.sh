#!/usr/bin/env bash
# litellm 1.106.2: of a server that states no usage, it reports 0 tokens and $0 without streaming, and a count of its own with.
#
# Guess:     what the server does not state is missing: None, as in openai's SDK.
# Behaviour: without streaming, `usage` is all zeros and `response_cost` is 0.0, for a model whose price it knows. With
#            `stream_options={"include_usage": True}`, the last chunk holds a usage that LiteLLM has counted with its own
#            tokenizer. Neither is marked as made up.
# Output:    1,000 words, whole: prompt 0, output 0, cost 0.0
#            1,000 words, streamed: prompt 1011, output 5
# Matters:   local and routed models often state none. "This memory cost nothing" and "this memory cost what LiteLLM counts"
#            stand in the same column, and a limit on money is never reached.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check litellm==1.106.2
LITELLM_LOCAL_MODEL_COST_MAP=True "$folder/venv/bin/python" - <<'PYTHON'
import json, threading
from http.server import BaseHTTPRequestHandler, HTTPServer
import litellm

TEXT = "The door is green."

def choice(**part):
    return {"id": "1", "created": 1, "model": "gpt-4o", "choices": [{"index": 0, **part}]}

WHOLE = choice(finish_reason="stop", message={"role": "assistant", "content": TEXT}) | {"object": "chat.completion"}
CHUNKS = [
    choice(finish_reason=None, delta={"role": "assistant", "content": TEXT}) | {"object": "chat.completion.chunk"},
    choice(finish_reason="stop", delta={}) | {"object": "chat.completion.chunk"},
]

class Server(BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if asked.get("stream"):
            kind, body = "text/event-stream", "".join(f"data: {json.dumps(one)}\n\n" for one in CHUNKS) + "data: [DONE]\n\n"
        else:
            kind, body = "application/json", json.dumps(WHOLE)
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_):
        pass

server = HTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
say = {"model": "openai/gpt-4o", "api_base": f"http://127.0.0.1:{server.server_port}", "api_key": "none",
       "messages": [{"role": "user", "content": "word " * 1000}]}
whole = litellm.completion(**say)
cost = whole._hidden_params["response_cost"]
print(f"1,000 words, whole: prompt {whole.usage.prompt_tokens}, output {whole.usage.completion_tokens}, cost {cost}")
assert (whole.usage.prompt_tokens, whole.usage.completion_tokens, cost) == (0, 0, 0), "changed"
*_, last = litellm.completion(**say, stream=True, stream_options={"include_usage": True})
print(f"1,000 words, streamed: prompt {last.usage.prompt_tokens}, output {last.usage.completion_tokens}")
assert last.usage.prompt_tokens > 1000 and last.usage.completion_tokens > 0, "changed"
PYTHON
