#!/usr/bin/env bash
# inspect-ai 0.3.285: a judge that can read one verdict of four gives an accuracy of 1.0, with an error of 0.
#
# Guess:     `accuracy` is the share of the samples; a judge's answer without a grade makes it lower, or fails the run.
# Behaviour: a sample without a readable grade is unscored (NaN), and left out of `accuracy` and of `stderr`. The run's
#            status is "success"; only `unscored_samples` tells.
# Output:    success: scored 1, unscored 3, accuracy 1.0, stderr 0.0
# Matters:   where a judge cannot read the long or evasive replies, those that remain are not a sample of all. Two memories
#            are compared over different questions, each with a small error bar.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check inspect-ai==0.3.285
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import model_graded_qa
from inspect_ai.solver import generate

def saying(*texts):
    outputs = []
    for text in texts:
        output = ModelOutput.from_content("some-model", text)
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)  # or it downloads a tokenizer
        outputs.append(output)
    return get_model("mockllm/model", custom_outputs=outputs, memoize=False)

judge = saying("GRADE: C", "The answer is wrong.", "I cannot tell.", "")
task = Task(
    dataset=[Sample(input=f"Which colour is door {number}?", target="green") for number in range(4)],
    solver=[generate()],
    scorer=model_graded_qa(model=judge),
)
agent = saying("Green.", "Blue.", "Red.", "I do not know.")
log = eval(task, model=agent, display="none", log_dir="logs", max_samples=1)[0]
score = log.results.scores[0]
figures = {name: metric.value for name, metric in score.metrics.items()}
print(
    f"{log.status}: scored {score.scored_samples}, unscored {score.unscored_samples}, "
    f"accuracy {figures['accuracy']}, stderr {figures['stderr']}"
)
assert (score.scored_samples, score.unscored_samples) == (1, 3), "changed"
assert figures == {"accuracy": 1.0, "stderr": 0.0}, "changed"
PYTHON
