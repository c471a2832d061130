"""The learning rate of each step

Reports: rates a step off are a frequent report; docs/checkpoints.md says that warm-up is a step ahead of transformers' and
that the floor comes a step earlier.
Right: what docs/checkpoints.md and docs/workload.md say: step 1 has 1/3 of the rate, step 3 all of it, the last step 0.
Passes: rates of metrics.jsonl are these.
"""
import json

WORKLOAD = """
[data.d]
kind = "synthetic-classes"
samples = 64

[[model]]
name = "linear"
chain = { family = "mlp", width = 8 }
data = "d"
batch_size = 4
steps = 12
optimizer = { kind = "sgd", learning_rate = 1.0 }
schedule = { kind = "linear", warmup = 3 }
"""


def case(hydra):
    right = [round(x, 6) for x in [(i + 1) / 3 for i in range(3)] + [1 - i / 8 for i in range(9)]]
    ran = hydra.train()
    with open("run/metrics.jsonl", encoding="utf-8") as lines:
        rates = [round(row["learning_rate"], 6) for row in map(json.loads, lines) if "learning_rate" in row]
    yield ran.status == 0 and rates == right, str(rates), f"{right}, as documented"
