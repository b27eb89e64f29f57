#!/usr/bin/env bash
# genai-prices 0.2.3: the price of a sum of calls is not the sum of their prices.
#
# Guess:     tokens times a price per token: it does not matter whether calls are added up before or after pricing.
# Behaviour: models with a dearer tariff for long prompts apply it to all tokens of a request, from a threshold on. Thirty
#            calls of 10,000 prompt tokens, added up and priced once, cost about twice what they cost one by one.
# Output:    claude-sonnet-4-5: 30 calls of 10,000 tokens: $0.9450 one by one, $1.8675 as a sum (1.98 times)
#            models with tiers in this version: 151
# Matters:   a memory makes many small calls behind one reply. Harnesses that report "cost per question" from summed usage
#            make memories look twice as dear as the long-context model that they are compared with.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check genai-prices==0.2.3
"$folder/venv/bin/python" - <<'PYTHON'
from genai_prices import Usage, calc_price
from genai_prices.data_snapshot import get_snapshot

def price(tokens, model, provider):
    return calc_price(Usage(input_tokens=tokens, output_tokens=tokens // 100), model, provider_id=provider).total_price

for model, provider in (("claude-sonnet-4-5", "anthropic"), ("gpt-6-luna", "openai")):
    once, each = price(300_000, model, provider), 30 * price(10_000, model, provider)
    print(f"{model}: 30 calls of 10,000 tokens: ${each} one by one, ${once} as a sum ({once / each:.2f} times)")
    assert once > each * 19 / 10, "changed: no cliff any more"
tiered = sum("tiers" in repr(model.prices) for provider in get_snapshot().providers for model in provider.models)
print(f"models with tiers in this version: {tiered}")
assert tiered > 100
PYTHON
