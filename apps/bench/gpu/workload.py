"""Workload files for Hydra, written from one template. Standard library only."""
import dataclasses

from shapes import Shape

TEMPLATE = """\
[run]
name = "{name}"
seed = 1
optimizer_on = "{optimizer_on}"
checkpoint = {{ every_minutes = 0, keep = 0 }}

[host]
memory = "{host_memory}"

[[device]]
{device}
memory = "{memory}"

[data.language]
kind = "synthetic-language"
symbols = {vocabulary}
order = 1
tokens = {data_tokens}
validation_tokens = 0

[[model]]
name = "{name}{suffix}"
chain = {{ {chain} }}
data = "language"
batch_size = {batch_size}
micro_batches = {micro_batches}
steps = {steps}
optimizer = {{ learning_rate = 1e-4 }}
"""

GRID = """
[model.grid]
seed = [{seeds}]
"""

MOST_DATA = 2**22  # tokens (16 MiB of host memory); longer runs read them again


@dataclasses.dataclass(frozen=True)
class Workload:
    name: str
    shape: Shape
    device: str          # keys of [[device]] but memory, a line each
    memory: str
    host_memory: str
    tokens: int          # in a step
    micro_batch: int     # samples
    steps: int
    cuts: tuple = ()     # first layer of each shard; none: Hydra's own
    models: int = 1
    ablation: str = ""   # keys of [ablation]
    optimizer_on: str = "host"

    @property
    def micro_batches(self):
        return self.tokens // (self.shape.context * self.micro_batch)

    def text(self):
        several = self.models > 1
        data = max(2 * self.tokens, min(self.steps * self.tokens, MOST_DATA)) + 1
        text = TEMPLATE.format(
            name=self.name, optimizer_on=self.optimizer_on, host_memory=self.host_memory, device=self.device,
            memory=self.memory, vocabulary=self.shape.vocabulary, data_tokens=data,
            suffix="-{seed}" if several else "", chain=self.shape.keys(),
            batch_size=self.tokens // self.shape.context, micro_batches=self.micro_batches, steps=self.steps)
        if self.cuts:
            text += f"cuts = {list(self.cuts)}\n"
        if several:
            text += GRID.format(seeds=", ".join(str(i + 1) for i in range(self.models)))
        return text + (f"\n[ablation]\n{self.ablation}\n" if self.ablation else "")
