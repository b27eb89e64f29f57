#!/usr/bin/env bash
# openai 3.57.0: an error that a server sends as a string is missing from the exception's text.
#
# Guess:     str(error) says what the server said, whatever the form of its error.
# Behaviour: it says "Error code: 400" alone, unless the error is an object with a field `message`. LM Studio sends
#            {"error": "..."}, xAI does for an empty account. The text is in `error.body`, which logs do not show.
# Output:    string: str(error) = 'Error code: 400', body = 'the model is loaded with ...'
# Matters:   who tells a full window or an empty account from a bad request by the exception's text, takes a memory that
#            overflowed for a broken run, and a run without credit for a wrong setting.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check openai==3.57.0
"$folder/venv/bin/python" - <<'PYTHON'
import json, threading
from http.server import BaseHTTPRequestHandler, HTTPServer
import openai

SAID = "the model is loaded with context length of only 2048 tokens"

class Server(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        error = {"message": SAID} if "object" in self.path else SAID
        body = json.dumps({"error": error}).encode()
        self.send_response(400)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass

server = HTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
seen = {}
for form in ("object", "string"):
    client = openai.OpenAI(base_url=f"http://127.0.0.1:{server.server_port}/{form}", api_key="none", max_retries=0)
    try:
        client.chat.completions.create(model="m", messages=[{"role": "user", "content": "Hi"}])
    except openai.BadRequestError as error:
        seen[form] = str(error)
        print(f"{form}: str(error) = {str(error)!r}, body = {error.body!r}")
assert SAID in seen["object"]
assert seen["string"] == "Error code: 400", "changed: the string is in the text now"
PYTHON
