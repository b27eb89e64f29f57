#!/usr/bin/env bash
# openai 3.57.0 and anthropic 2.14.0: a reply that broke off is an ordinary object, without an exception.
#
# Guess:     an SDK with typed results raises when an answer has none of the values that its types allow.
# Behaviour: with HTTP 200, finish_reason "error" (OpenRouter, Mistral), "abort" (vLLM) or stop_reason null, half a
#            sentence comes back as `message.content`; an answer that is only {"error": {...}} is a ChatCompletion whose
#            `choices` is None. Nothing is validated, nothing is retried.
# Output:    openai, finish_reason 'error': content 'The door is gre'
#            openai, an error alone: ChatCompletion with choices None
#            anthropic, stop_reason None: text 'The door is gre'
# Matters:   a harness that takes the text scores half a reply as the agent's answer, and a cache keeps it for ever.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check openai==3.57.0 anthropic==2.14.0
"$folder/venv/bin/python" - <<'PYTHON'
import json, threading
from http.server import BaseHTTPRequestHandler, HTTPServer
import anthropic, openai

now, count = {}, 0

class Server(BaseHTTPRequestHandler):
    def do_POST(self):
        global count
        count += 1
        self.rfile.read(int(self.headers["content-length"]))
        body = json.dumps(now).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass

server = HTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}"
chat = openai.OpenAI(base_url=url, api_key="none", max_retries=4).chat.completions
messages = anthropic.Anthropic(base_url=url, api_key="none", max_retries=4).messages
say = {"model": "m", "messages": [{"role": "user", "content": "Which colour is the door?"}]}

for word in ("error", "abort"):
    now = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [
        {"index": 0, "finish_reason": word, "message": {"role": "assistant", "content": "The door is gre"}}]}
    choice = chat.create(**say).choices[0]
    print(f"openai, finish_reason {choice.finish_reason!r}: content {choice.message.content!r}")
    assert (choice.finish_reason, choice.message.content) == (word, "The door is gre")
now = {"error": {"code": 429, "message": "upstream is rate-limited"}}
answer = chat.create(**say)
print(f"openai, an error alone: {type(answer).__name__} with choices {answer.choices!r}")
assert answer.choices is None
now = {"id": "1", "type": "message", "role": "assistant", "model": "m", "stop_reason": None, "stop_sequence": None,
       "content": [{"type": "text", "text": "The door is gre"}], "usage": {"input_tokens": 9, "output_tokens": 4}}
answer = messages.create(max_tokens=9, **say)
print(f"anthropic, stop_reason {answer.stop_reason!r}: text {answer.content[0].text!r}")
assert answer.stop_reason is None
assert count == 4, "changed: something was asked again"
PYTHON
