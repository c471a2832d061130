#!/usr/bin/env python3
"""Every key of transformers' configurations, changed: Hydra computes what transformers does then, or names the key.

    config_keys.py PROBE [CASE ...]

A case is one of compare_models.py, with all keys of its config.json one after the other, and some pairs of those that alone
change nothing or are computed, which HYDRA_TEST_SEED chooses. Logits and gradients are compared. The weights stay, so a key
that says how large they are makes transformers refuse them: Hydra has to, too. Exits with 77 where transformers is not
installed.
"""
import itertools
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

import compare_models as models
from checks import require, run_checks

torch = models.torch

BASES = ("gpt2", "llama", "llama-3", "mistral-window", "qwen2-window", "qwen3", "gemma2", "gemma3", "phi3", "bert-masked-lm",
         "bert-classification", "vit", "resnet-basic", "resnet-bottleneck")
DROP = ("gpt2", "bert-masked-lm", "bert-classification", "vit")  # with Hydra's dropout, by tests of their layers
PAIRS = 6
LEFT_OUT = {"architectures", "model_type", "transformers_version", "dtype",  # what it is, and who wrote it
            "return_dict",                                                   # a tuple instead of what is compared here
            "id2label", "label2id"}                                          # names of classes: tests of data
TYPES = ["default", "linear", "llama3", "dynamic", "yarn", "longrope"]
OTHERS = {
    "hidden_act": ["relu", "gelu", "silu", "gelu_new"],
    "activation_function": ["relu", "gelu", "gelu_pytorch_tanh"],
    "hidden_activation": ["relu", "gelu"],
    "layer_type": ["basic", "bottleneck"],
    "problem_type": ["single_label_classification", "multi_label_classification", "regression"],
    "layer_types": [["sliding_attention"] * 2, ["full_attention"] * 2, ["full_attention", "sliding_attention"]],
    "sliding_window": [None, 2, 5],
    "head_dim": [4, 8, 16],
    "rope_parameters": [{"rope_type": t, "rope_theta": 300.0, "factor": 2.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                         "original_max_position_embeddings": 16} for t in TYPES],
    "pruned_heads": [{"0": [1]}],
    "quantization_config": [],
}


def others(key, value):
    """Values that the key does not have."""
    if key in OTHERS:
        return [other for other in OTHERS[key] if other != value]
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1, 2 * value + 2]
    if isinstance(value, float):
        return [1.5 * value + 0.25]
    if isinstance(value, str):
        return [value + "-other"]
    if isinstance(value, list):
        return [value[:-1], value + value[-1:]]
    return [1, 0.5, True] if value is None else []


def changes(config):
    return [(key, other) for key, value in config.items() if key not in LEFT_OUT for other in others(key, value)]


class Expected:
    """What transformers makes of a folder. refuses: it cannot with these weights. unknown: it takes no such value at all."""

    def __init__(self, case, folder):
        self.refuses, self.unknown, self.drops, self.logits, self.gradients = True, True, False, None, {}
        try:
            model, loading = type(case.model).from_pretrained(folder, output_loading_info=True, attn_implementation="eager")
        except Exception:  # pylint: disable=broad-except
            return
        missing = {k for k in loading["missing_keys"] if not models.unused_head(k)}
        if missing or loading["mismatched_keys"] or loading["unexpected_keys"]:
            self.unknown = False
            return
        inputs = models.batch_of(case, 0)[0]
        try:
            with torch.no_grad():
                self.logits = case.call(model.float().eval(), inputs)
                torch.manual_seed(1)
                self.drops = not torch.equal(case.call(model.train(), inputs), case.call(model, inputs))
            self.gradients = models.gradients_of(case, model)
        except Exception:  # pylint: disable=broad-except
            return
        self.refuses = self.unknown = False
        if case.counts is not None:
            self.logits = self.logits[case.counts(inputs)]


def require_equal_results(what, case, results, expected):
    """Gradients with dropout are by tests of its layers."""
    logits = results["logits"]
    counted = logits if case.counts is None else logits[case.counts(models.batch_of(case, 0)[0])]
    models.require_near(what, counted, expected.logits, models.LOGITS)
    if expected.drops:
        return
    found = models.gradients_in(results)
    others = sorted(found.keys() - expected.gradients.keys())
    require(not others, f"{what}: gradients of {others}")
    models.require_near_gradients(found, expected.gradients)


def compare_keys(probe, case, work, config, changed):
    """`changed`: keys with other values."""
    names = {n for key in changed for n in (key, key.replace("_", " "))}
    (work / "model" / "config.json").write_text(json.dumps({**config, **changed}))
    expected = Expected(case, work / "model")
    out = work / "out"
    shutil.rmtree(out, ignore_errors=True)
    done = subprocess.run([probe, work / "model", work / "inputs.safetensors", out], capture_output=True, text=True)
    said, what = done.stdout + done.stderr, ", ".join(f"{key} = {json.dumps(value)}" for key, value in changed.items())
    noted = any(key in said for key in changed)
    require(done.returncode in (0, 2), f"{what}: the probe ends with {done.returncode}: {said}")
    if done.returncode == 2:
        require(any(n in said for n in names) or expected.refuses, f"{what}: is refused by another name: {said.strip()}")
        return "refused"
    if expected.unknown:
        return "unknown to transformers"
    require(not expected.refuses, f"{what}: transformers cannot use it, and Hydra says nothing: {said.strip()}")
    try:
        require_equal_results(what, case, models.load_file(out / "results.safetensors"), expected)
    except models.Failed as e:
        require(noted, f"{what}: not what transformers computes, without a word: {e}")
        return "noted"
    require(not expected.drops or case.name in DROP or noted, f"{what}: transformers drops, Hydra does not, nor says so")
    return "noted" if noted else "equal"


def pairs_of(changes_alone):
    """Of different keys."""
    pairs = [(a, b) for a, b in itertools.combinations(changes_alone, 2) if a[0] != b[0]]
    return random.Random(int(os.environ.get("HYDRA_TEST_SEED") or 1)).sample(pairs, min(PAIRS, len(pairs)))


def compare(probe, name):
    torch.manual_seed(models.SEED)
    case, counts = models.CASES[name](name), {}
    with tempfile.TemporaryDirectory() as path:
        work = pathlib.Path(path)
        case.model.save_pretrained(work / "model")
        models.save_file({"input": case.inputs, "target": case.targets}, work / "inputs.safetensors")
        config = json.loads((work / "model" / "config.json").read_text())
        whole = type(case.model.config)().to_dict() | config
        wrong, equal = [], []

        def outcome_of(*changed):
            try:
                outcome = compare_keys(probe, case, work, config, dict(changed))
            except models.Failed as e:
                outcome = "wrong"
                wrong.append(str(e))
            counts[outcome] = counts.get(outcome, 0) + 1
            return outcome

        for change in changes(whole):
            if outcome_of(change) == "equal":
                equal.append(change)
        require(outcome_of(("a_key_of_another_program", 3)) != "equal", "an unknown key is read past in silence")
        for pair in pairs_of(equal):
            outcome_of(*pair)
    require(not wrong, "\n  ".join(wrong))
    return ", ".join(f"{n} {outcome}" for outcome, n in sorted(counts.items()))


def main():
    probe, *chosen = sys.argv[1:]
    torch.set_num_threads(1)
    sys.exit(run_checks({name: lambda n=name: compare(probe, n) for name in chosen or BASES}, share=1 if chosen else 7))


if __name__ == "__main__":
    main()
