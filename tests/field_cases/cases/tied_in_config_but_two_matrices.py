"""config.json says tied, the weights say otherwise

Reports: huggingface/transformers#42612, huggingface/peft#2777 (open), unslothai/unsloth#9331,
NVIDIA-NeMo/Automodel#2511: a checkpoint has tie_word_embeddings and an lm_head.weight of other values (a head that was
trained by modules_to_save and merged); loaders throw the trained head away without a word.
Right: what transformers computes: it warns and does not tie. Or a refusal that names both tensors.
Passes: the loss of `hydra evaluate`, and transformers reads from the export what was trained; or exit status 2 with
lm_head.weight and what it is tied to in the message. The checkpoint without the second matrix is read as before.
"""
import torch

from inputs import BYTES, MODEL, byte_windows, causal_model, change_weights, copied, loss_of_windows, tiny
from outputs import attempt, loss_is, near, show

WORKLOAD = BYTES + MODEL


def with_head(weights):
    torch.manual_seed(5)
    return weights | {"lm_head.weight": torch.randn(256, 32) * 0.3}


def case(hydra):
    tied = tiny("Qwen2", "tied", vocab_size=256, tie_word_embeddings=True)
    change_weights(copied("tied", "model"), with_head)
    windows = byte_windows()
    evaluation, train = hydra.evaluate(), hydra.train()
    control = loss_is(hydra.evaluate("model.chain.from=tied"), loss_of_windows(tied, windows))
    words = r"lm_head\.weight", r"tie_word_embeddings|embed_tokens"
    if evaluation.refused(*words):
        yield train.refused(*words), "refused: " + evaluation.brief(), "both tensors are named"
    else:
        hydra.export()
        yield loss_is(evaluation, loss_of_windows(causal_model("model"), windows))
        after = hydra("evaluate run --json").value()
        got = attempt(lambda: loss_of_windows(causal_model("exported"), windows))
        yield after is not None and near(got, after), f"export {show(got)}", f"{show(after)}, as trained"
    yield control
