#!/usr/bin/env bash
# openai 3.57.0 and anthropic 2.14.0: two SDKs of one design treat a long Retry-After in opposite ways.
#
# Guess:     both wait as long as the server asks, up to some limit, and then try again max_retries times.
# Behaviour: asked for 121 seconds, openai does not try again at all (one request, max_retries=4 or not); anthropic plans
#            to sleep for as long as it is told, here 3,600 seconds. At 120 seconds openai still waits and tries again.
# Output:    openai, retry-after 121: gave up with RateLimitError after 1 request
#            anthropic, retry-after 3600: would sleep 3600 s, then ask again
# Matters:   a long conversation meets daily limits. With the one SDK the run ends at once, although the message of whoever
#            calls it says "after 4 retries"; with the other it stands still for an hour, with nothing to see.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check openai==3.57.0 anthropic==2.14.0
"$folder/venv/bin/python" - <<'PYTHON'
import threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
import anthropic, openai

asked = []

class Server(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        asked.append(self.path)
        seconds = self.path.split("/")[1]
        self.send_response(429)
        self.send_header("retry-after", seconds)
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_):
        pass

server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}"
planned = []

def wait(seconds):
    planned.append(round(seconds, 1))
    raise TimeoutError  # nobody waits here

time.sleep = wait
say = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}

def ask(which, seconds):
    planned.clear(), asked.clear()
    try:
        if which == "openai":
            openai.OpenAI(base_url=f"{url}/{seconds}", api_key="none", max_retries=4).chat.completions.create(**say)
        else:
            client = anthropic.Anthropic(base_url=f"{url}/{seconds}", api_key="none", max_retries=4)
            client.messages.create(max_tokens=9, **say)
    except TimeoutError:
        end = f"would sleep {planned[0]:g} s, then ask again"
    except Exception as error:
        end = f"gave up with {type(error).__name__} after {len(asked)} request"
    print(f"{which}, retry-after {seconds}: {end}")
    return end

assert ask("openai", 120).startswith("would sleep 120 s")
assert ask("openai", 121) == "gave up with RateLimitError after 1 request", "changed"
assert ask("anthropic", 3600).startswith("would sleep 3600 s"), "changed"
PYTHON
