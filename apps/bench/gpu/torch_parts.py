"""The parts that train by PyTorch, in processes of their own. Standard library only."""
import json

from bench import speeds
from programs import shell

GIB = 2**30


def torch_row(bench, script, mode, shape, tokens, steps, micro_batch):
    micro_batch = min(micro_batch, tokens // bench.shape(shape).context)
    checkpointing = mode.endswith("checkpointing")
    command = bench.python(script, "--shape", bench.shape(shape).name, "--tokens", tokens, "--steps", steps,
                           "--micro-batch", micro_batch, *(["--checkpointing"] if checkpointing else []))
    setting = {"mode": mode, "shape": shape, "tokens": tokens, "micro_batch": micro_batch, "steps": steps}
    name = f"{tokens} tokens"
    promotes = tokens // (micro_batch * bench.shape(shape).context) if mode.startswith("fsdp") else 0
    if not bench.affords(name, bench.estimate(bench.shape(shape), tokens, steps, promotes=promotes), setting):
        return
    done = bench.call(command, env=bench.python_environment())
    if done.status != 0:
        short = "does not fit" if "does not fit" in done.err else "failed"
        bench.add(name, short, shell(command), setting, why=done.reason())
        return
    found = json.loads(done.out.strip().splitlines()[-1])
    facts = {"micro-batch": found["micro_batch"], "loss": found["loss"], "precision": found["precision"],
             **({"peak GiB": found["peak_bytes"] / GIB} if found["peak_bytes"] else {})}
    bench.add(name, "ok", shell(command), {**setting, "micro_batch": found["micro_batch"]},
              measured=speeds(bench, bench.shape(shape), tokens, found["step_s"]), facts=facts)


def torch_part(shape, mode):
    """FSDP copies the model for each micro-batch: where activations are recomputed, it gets a larger one."""
    script = "fsdp_offload.py" if mode.startswith("fsdp") else "plain_torch.py"

    def part(bench):
        micro_batch = bench.scale.large_micro_batch if mode == "fsdp offload checkpointing" else bench.scale.micro_batch
        for tokens, steps in bench.sizes(bench.scale.torch_steps):
            torch_row(bench, script, mode, shape, tokens, steps, micro_batch)
    return part
