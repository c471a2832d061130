"""_orig_mod., module. and model. before every name

Reports: pytorch/pytorch#101107 (open), karpathy/nanoGPT#325 (open), Lightning-AI/pytorch-lightning#20233 (open),
FareedKhan-dev/train-llm-from-scratch#36: weights saved from a compiled or wrapped model; loaders start from random
values.
Right: the weights are found, or a refusal that names the prefix; never a silent random start.
Passes: the loss of `hydra evaluate`; or exit status 2 and the message shows the prefix, as that of the names in the
file. Of a file that lacks tensors without any prefix it does not.
"""
from inputs import BYTES, MODEL, byte_windows, change_weights, copied, loss_of_windows, tiny
from outputs import near, says, show

WORKLOAD = BYTES + MODEL
PREFIXES = {"_orig_mod.": r"_orig_mod", "module.": r"(?<!\w)module\.",
            "model.": r"model\.model\.|model\.lm_head|(begin|prefix|start)\w*[^.;]*\bmodel\.(?!\w)"}


def case(hydra):
    model = tiny("Llama", "model", vocab_size=256)
    right = loss_of_windows(model, byte_windows())
    for number, (prefix, shown) in enumerate(PREFIXES.items()):
        change_weights(copied("model", f"wrapped{number}"), lambda w, p=prefix: {p + k: v for k, v in w.items()})
        ran = hydra.evaluate(f"model.chain.from=wrapped{number}")
        yield (near(ran.value(), right) or ran.refused(shown), f"{prefix} {ran.loss()}",
               f"{show(right)}, or a refusal that shows the prefix")
    change_weights(copied("model", "half"), lambda w: {k: w[k] for k in sorted(w)[:10]})
    half = hydra.evaluate("model.chain.from=half")
    yield (half.status == 2 and not any(says(half.text, PREFIXES[p]) for p in ("_orig_mod.", "module.")),
           "half of the tensors: " + half.brief(), "a refusal without a word about prefixes")
