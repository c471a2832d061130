#!/usr/bin/env python3
"""Compares Hydra's models with Hugging Face's transformers, architecture by architecture.

    compare_models.py PROBE HYDRA [CASE ...]

Makes a small random model of each architecture with transformers, and checks in fp32: the logits, every gradient, the
losses of 20 steps of AdamW (with and without clipping and micro-batches, whole and in pieces), and that checkpoints go both
ways without a changed bit (fp32, bf16, fp16, in parts); then the program's export, and what it generates. Exits with 77 where transformers is not installed.
"""

import copy
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

from checks import Failed, require, run_checks

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ["HF_HUB_OFFLINE"] = "1"
try:
    import torch_of_build
    import torch
    import torch.nn.functional as F
    import transformers
    from initial_values import moved
    from PIL import Image
    from safetensors.torch import load_file, save_file
except ImportError as missing:
    print(f"skipped: {missing}; tests/python/setup installs what is needed")
    sys.exit(77)

transformers.utils.logging.disable_progress_bar()
transformers.utils.logging.set_verbosity_error()

SEED, BATCH, SAMPLES, STEPS, RATE = 11, 4, 12, 20, 1e-3
LOGITS, GRADIENTS, LOSSES = 1e-5, 1e-5, 2e-6  # relative; another GELU or epsilon would show at 1e-5 but not at 1e-4


class Case:
    """A model and data for it. `call` gives the logits of a batch of inputs."""

    def __init__(self, name, model, inputs, targets, call, counts=None):
        self.name, self.model, self.inputs, self.targets, self.call = name, model, inputs, targets, call
        self.counts = counts  # which logits are compared, of a batch of inputs; None: all
        self.rewrite = None  # changes the table of config.json as saved
        self.pieces = 1  # of its layers, for another comparison


def shaken(model, seed=7):
    return moved(model, seed).float()


def tokens(vocabulary, context, seed=1):
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(vocabulary, (SAMPLES, context + 1), generator=generator)
    return ids[:, :-1].contiguous(), ids[:, 1:].contiguous()


def causal(name, model_class, config, context=12):
    config._attn_implementation = "eager"
    inputs, targets = tokens(config.vocab_size, context)
    case = Case(name, shaken(model_class(config)), inputs, targets, lambda m, x: m(input_ids=x).logits)
    case.pieces = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
    return case


def gpt2(name, **options):
    config = transformers.GPT2Config(vocab_size=37, n_positions=16, n_embd=24, n_layer=2, n_head=3, resid_pdrop=0.0,
                                     embd_pdrop=0.0, attn_pdrop=0.0, **options)
    return causal(name, transformers.GPT2LMHeadModel, config)


def decoder(name, model_class, config_class, **options):
    sizes = dict(vocab_size=37, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
                 num_key_value_heads=2, max_position_embeddings=64, attention_dropout=0.0)
    return causal(name, model_class, config_class(**{**sizes, **options}))


def llama(name, **options):
    return decoder(name, transformers.LlamaForCausalLM, transformers.LlamaConfig, **options)


def gemma2(name, **options):
    return decoder(name, transformers.Gemma2ForCausalLM, transformers.Gemma2Config, head_dim=16,
                   **{"query_pre_attn_scalar": 24, "sliding_window": 5, "attn_logit_softcapping": 3.0,
                      "final_logit_softcapping": 2.0, **options})


def gemma3(name, **options):
    return decoder(name, transformers.Gemma3ForCausalLM, transformers.Gemma3TextConfig, head_dim=16, num_hidden_layers=3,
                   **{"query_pre_attn_scalar": 24, "sliding_window": 5, **options},
                   layer_types=["sliding_attention", "full_attention", "sliding_attention"],
                   rope_parameters={"sliding_attention": {"rope_type": "default", "rope_theta": 100.0},
                                    "full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 5000.0}})


def phi3(name, **options):
    return decoder(name, transformers.Phi3ForCausalLM, transformers.Phi3Config, pad_token_id=5, **options)


def longrope(original):
    """Of heads with 8 features, of which 6 are rotated."""
    return {"original_max_position_embeddings": original,
            "rope_parameters": {"rope_type": "longrope", "rope_theta": 5000.0, "partial_rotary_factor": 0.75,
                                "factor": 4.0, "original_max_position_embeddings": original,
                                "short_factor": [1.0, 1.5, 2.0], "long_factor": [1.25, 3.0, 9.0]}}


def with_old_gemma_rope(case):
    """config.json as transformers wrote it before rope_parameters and layer_types."""
    def rewrite(config):
        rope = config.pop("rope_parameters")
        config["rope_local_base_freq"] = rope["sliding_attention"]["rope_theta"]
        config["rope_theta"] = rope["full_attention"].pop("rope_theta")
        config["rope_scaling"] = rope["full_attention"]

    case.rewrite = rewrite
    return case


def with_old_rope(case):
    """config.json as transformers wrote it before rope_parameters."""
    def rewrite(config):
        rope = config.pop("rope_parameters")
        config["rope_theta"] = rope.pop("rope_theta")
        config["rope_scaling"] = rope

    case.rewrite = rewrite
    return case


LLAMA3_ROPE = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
               "original_max_position_embeddings": 16, "rope_theta": 10000.0}


def bert(name, model_class, labels=None):
    config = transformers.BertConfig(vocab_size=37, hidden_size=24, num_hidden_layers=2, num_attention_heads=3,
                                     intermediate_size=40, max_position_embeddings=16, type_vocab_size=2,
                                     hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
                                     **({"num_labels": labels} if labels else {}))
    config._attn_implementation = "eager"
    generator = torch.Generator().manual_seed(3)
    context = 12
    ids = torch.randint(37, (SAMPLES, context), generator=generator)
    segments = (torch.arange(context) >= 5).long().expand(SAMPLES, context)
    lengths = torch.randint(6, context + 1, (SAMPLES, 1), generator=generator)
    mask = (torch.arange(context) < lengths).long()
    inputs = torch.stack([ids * mask, segments * mask, mask], dim=1).contiguous()
    chosen = (torch.rand(ids.shape, generator=generator) < 0.4) & (mask == 1)
    chosen[:, 0] = True
    targets = torch.where(chosen, ids, torch.full_like(ids, -100))
    if labels:
        targets = torch.arange(SAMPLES) % labels

    def call(m, x):
        out = m(input_ids=x[:, 0], token_type_ids=x[:, 1], attention_mask=x[:, 2])
        return out.prediction_logits if hasattr(out, "prediction_logits") else out.logits

    case = Case(name, shaken(model_class(config)), inputs, targets, call, None if labels else lambda x: x[:, 2] == 1)
    case.pieces = config.num_attention_heads
    return case


def images(name, model, size, labels):
    generator = torch.Generator().manual_seed(5)
    inputs = torch.randn((SAMPLES, 3, size, size), generator=generator)
    return Case(name, shaken(model), inputs, torch.arange(SAMPLES) % labels, lambda m, x: m(pixel_values=x).logits)


def vit(name, **options):
    config = transformers.ViTConfig(hidden_size=24, num_hidden_layers=2, num_attention_heads=3, intermediate_size=40,
                                    image_size=12, patch_size=4, num_labels=5, hidden_dropout_prob=0.0,
                                    attention_probs_dropout_prob=0.0, **options)
    config._attn_implementation = "eager"
    case = images(name, transformers.ViTForImageClassification(config), 12, 5)
    case.pieces = config.num_attention_heads
    return case


def resnet(name, **options):
    config = transformers.ResNetConfig(embedding_size=8, hidden_sizes=[8, 16], depths=[2, 1], num_labels=5, **options)
    return images(name, transformers.ResNetForImageClassification(config), 64, 5)


CASES = {
    "gpt2": lambda n: gpt2(n),
    "gpt2-untied": lambda n: gpt2(n, tie_word_embeddings=False),
    "llama": lambda n: llama(n),
    "llama-tied": lambda n: llama(n, tie_word_embeddings=True, num_key_value_heads=4, rms_norm_eps=1e-5),
    "llama-3": lambda n: llama(n, rope_parameters=LLAMA3_ROPE, head_dim=16),
    "llama-biases": lambda n: llama(n, attention_bias=True, mlp_bias=True, pad_token_id=3),
    "llama-linear": lambda n: llama(n, rope_parameters={"rope_type": "linear", "factor": 2.0, "rope_theta": 5000.0}),
    "llama-old-config": lambda n: with_old_rope(llama(n, rope_parameters=LLAMA3_ROPE | {"rope_theta": 5000.0})),
    "gemma2": lambda n: gemma2(n),
    "gemma2-no-caps": lambda n: gemma2(n, attn_logit_softcapping=None, final_logit_softcapping=None, sliding_window=64),
    "gemma3": lambda n: gemma3(n),
    "gemma3-old-config": lambda n: with_old_gemma_rope(gemma3(n, tie_word_embeddings=False)),
    "phi3": lambda n: phi3(n, sliding_window=5),
    "phi3-short": lambda n: phi3(n, tie_word_embeddings=True, **longrope(64)),
    "phi3-long": lambda n: phi3(n, **longrope(8)),
    "mistral-window": lambda n: decoder(n, transformers.MistralForCausalLM, transformers.MistralConfig, sliding_window=5),
    "qwen2-window": lambda n: decoder(n, transformers.Qwen2ForCausalLM, transformers.Qwen2Config, use_sliding_window=True,
                                      sliding_window=5, max_window_layers=1),
    "mistral": lambda n: decoder(n, transformers.MistralForCausalLM, transformers.MistralConfig, sliding_window=None),
    "qwen2": lambda n: decoder(n, transformers.Qwen2ForCausalLM, transformers.Qwen2Config, tie_word_embeddings=True,
                               pad_token_id=36),
    "qwen3": lambda n: decoder(n, transformers.Qwen3ForCausalLM, transformers.Qwen3Config, head_dim=16),
    "bert-masked-lm": lambda n: bert(n, transformers.BertForMaskedLM),
    "bert-pretraining": lambda n: bert(n, transformers.BertForPreTraining),
    "bert-classification": lambda n: bert(n, transformers.BertForSequenceClassification, labels=3),
    "vit": lambda n: vit(n),
    "vit-no-qkv-bias": lambda n: vit(n, qkv_bias=False),
    "resnet-v1": lambda n: resnet(n, layer_type="bottleneck", downsample_in_bottleneck=True),
    "resnet-bottleneck": lambda n: resnet(n, layer_type="bottleneck"),
    "resnet-basic": lambda n: resnet(n, layer_type="basic", downsample_in_first_stage=True),
}


def run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise Failed(f"{' '.join(str(c) for c in command)}\n  exits with {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def require_near(what, found, expected, most, scale=None):
    scale = max(expected.abs().max().item(), 1e-30) if scale is None else scale
    error = (found.double() - expected.double()).abs().max().item() / scale
    require(error <= most, f"{what}: relative error {error:.2e}, at most {most:.0e} is allowed")
    return error


def require_equal(what, found, expected):
    require(found.shape == expected.shape or found.numel() == expected.numel(), f"{what}: {found.shape} for {expected.shape}")
    require(torch.equal(found.flatten(), expected.flatten()), f"{what}: is not bit for bit what was written")


def loss_of(logits, targets):
    return F.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.reshape(-1), ignore_index=-100, reduction="sum")


def counted(targets):
    return (targets != -100).sum().item()


def batch_of(case, step):
    at = step % (SAMPLES // BATCH) * BATCH
    return case.inputs[at:at + BATCH], case.targets[at:at + BATCH]


def train(case, clip, micro_batches):
    """Losses of the steps, and the trained model; the case's is left as it was."""
    model = copy.deepcopy(case.model).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, fused=False, foreach=False)
    losses = []
    for step in range(STEPS):
        inputs, targets = batch_of(case, step)
        total = 0.0
        for x, y in zip(inputs.chunk(micro_batches), targets.chunk(micro_batches)):
            loss = loss_of(case.call(model, x), y) / counted(targets)
            loss.backward()
            total += loss.item()
        if clip > 0:
            torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(total)
    return torch.tensor(losses, dtype=torch.float64), model


def read_checkpoint(folder):
    tensors = {}
    for file in sorted(pathlib.Path(folder).glob("*.safetensors")):
        tensors.update(load_file(file))
    return tensors


def stored(model):
    """Its tensors by the names that checkpoints have, which need not be those of its modules."""
    with tempfile.TemporaryDirectory() as path:
        model.save_pretrained(path)
        return read_checkpoint(path)


def gradients_of(case, model):
    """By the names of checkpoints; in the end they are the model's parameters."""
    inputs, targets = batch_of(case, 0)
    (loss_of(case.call(model.train(), inputs), targets) / counted(targets)).backward()
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.zeros_like(p) if p.grad is None else p.grad)
    averages = ("running_mean", "running_var", "num_batches_tracked")
    return {name: t for name, t in stored(model).items() if not name.endswith(averages)}


def logits_of(case, model):
    with torch.no_grad():
        return case.call(copy.deepcopy(model).eval(), batch_of(case, 0)[0])


def compare_logits(case, results, model):
    found, expected = results["logits"], logits_of(case, model)
    if case.counts is not None:
        kept = case.counts(batch_of(case, 0)[0])
        found, expected = found[kept], expected[kept]
    return require_near("logits", found, expected, LOGITS)


def gradients_in(results):
    return {name[len("gradient."):]: t for name, t in results.items() if name.startswith("gradient.")}


def require_near_gradients(found, expected):
    """Those that are found. One that cancels to zero is rounding error, compared on the scale of the others."""
    largest = max(g.abs().max().item() for g in expected.values())
    worst = 0.0
    for name, gradient in found.items():
        scale = max(expected[name].abs().max().item(), 1e-2 * largest)
        worst = max(worst, require_near(f"gradient of {name}", gradient, expected[name], GRADIENTS, scale))
    return worst


def compare_gradients(case, results):
    expected, found = gradients_of(case, copy.deepcopy(case.model)), gradients_in(results)
    unused = {n for n, g in expected.items() if n not in found and not g.any()}
    require(found.keys() == expected.keys() - unused, f"gradients of {sorted(found.keys() ^ (expected.keys() - unused))}")
    return require_near_gradients(found, expected)


class Folder:
    """Runs the probe on checkpoints of one case, in a folder of its own."""

    def __init__(self, probe, case, path):
        self.probe, self.case, self.path, self.runs = probe, case, path, 0
        self.inputs = path / "inputs.safetensors"
        save_file({"input": case.inputs, "target": case.targets}, self.inputs)

    def save(self, name, model, **options):
        model.save_pretrained(self.path / name, **options)
        if self.case.rewrite:
            file = self.path / name / "config.json"
            config = json.loads(file.read_text())
            self.case.rewrite(config)
            file.write_text(json.dumps(config))
        return self.path / name

    def results(self, checkpoint, *options):
        self.runs += 1
        out = self.path / f"results-{self.runs}"
        run(self.probe, checkpoint, self.inputs, out, "--batch-size", BATCH, "--learning-rate", RATE, *options)
        return load_file(out / "results.safetensors")


def compare_training(case, folder, checkpoint, clip, micro_batches):
    exported = folder.path / f"exported-{micro_batches}"
    results = folder.results(checkpoint, "--steps", STEPS, "--clip", clip, "--micro-batches", micro_batches, "--export", exported)
    expected, _ = train(case, clip, micro_batches)
    error = require_near(f"losses with clip {clip}, {micro_batches} micro-batches", results["losses"].double() / expected,
                         torch.ones_like(expected), LOSSES, 1.0)
    return error, results, exported


def compare_pieces(case, folder, checkpoint):
    """The losses, the gradients and the trained parameters of layers in pieces are those of the whole layers."""
    exported = folder.path / "exported-pieces"
    results = folder.results(checkpoint, "--pieces", case.pieces, "--steps", STEPS, "--clip", 0.5, "--micro-batches", 2, "--export",
                             exported)
    expected, _ = train(case, 0.5, 2)
    error = require_near(f"losses in {case.pieces} pieces", results["losses"].double() / expected, torch.ones_like(expected), LOSSES,
                         1.0)
    compare_gradients(case, results)
    for name, value in read_checkpoint(exported).items():
        require_equal(f"exported {name}", value, results[f"parameter.{name}"])
    return error


def compare_export(case, folder, results, exported):
    """What Hydra has trained and written, read by transformers."""
    model, loading = type(case.model).from_pretrained(exported, output_loading_info=True)
    unread = {k for k in loading["missing_keys"] if not unused_head(k)}
    require(not unread and not loading["unexpected_keys"] and not loading["mismatched_keys"], f"the export is not whole: {loading}")
    require(model.dtype == torch.float32, f"the export is read as {model.dtype}")
    for name, value in stored(model).items():
        if not name.endswith("num_batches_tracked") and not unused_head(name):
            require_equal(f"exported {name}", value, results[f"parameter.{name}"])
    compare_logits(case, folder.results(exported), model)


def unused_head(name):
    """Of pre-training: Hydra's BERT has no such head."""
    return name.startswith(("bert.pooler.", "cls.seq_relationship."))


def unread(name):
    """Stored, but not a parameter: counters, and heads that only some models have."""
    return name.endswith("num_batches_tracked") or unused_head(name)


def compare_formats(case, folder):
    """The initial parameters are those that are stored, in any type and number of files."""
    formats = {"parts": (torch.float32, {"max_shard_size": "4KB"}), "bf16": (torch.bfloat16, {}), "fp16": (torch.float16, {})}
    for name, (dtype, options) in formats.items():
        model = copy.deepcopy(case.model).to(dtype)
        checkpoint = folder.save(name, model, **options)
        require(name != "parts" or (checkpoint / "model.safetensors.index.json").exists(), "there is one part only")
        written, results = read_checkpoint(checkpoint), folder.results(checkpoint)
        begin = {key[len("begin."):]: value for key, value in results.items() if key.startswith("begin.")}
        other = {key for key in begin.keys() ^ written.keys() if key in begin or not unread(key)}
        require(begin and not other, f"{name}: the initial values are not what is stored: {sorted(other)}")
        for key, value in begin.items():
            require_equal(f"{name}: {key}", value, written[key].float())


def compare(probe, name):
    torch.manual_seed(SEED)
    case = CASES[name](name)
    with tempfile.TemporaryDirectory() as path:
        folder = Folder(probe, case, pathlib.Path(path))
        checkpoint = folder.save("checkpoint", case.model)
        plain, results, exported = compare_training(case, folder, checkpoint, 0, 1)
        logits, gradients = compare_logits(case, results, case.model), compare_gradients(case, results)
        clipped, _, _ = compare_training(case, folder, checkpoint, 0.5, 2)
        compare_export(case, folder, results, exported)
        compare_formats(case, folder)
        pieces = f", in {case.pieces} pieces {compare_pieces(case, folder, checkpoint):.1e}" if case.pieces > 1 else ""
    return f"logits {logits:.1e}  gradients {gradients:.1e}  losses {plain:.1e}, clipped {clipped:.1e}{pieces}"


WORKLOAD = """[run]
seed = 7
[[device]]
kind = "cpu"
memory = "64MiB"
[data.text]
kind = "synthetic-language"
symbols = 20
[[model]]
name = "m"
chain = {{ from = "{folder}", context = 8 }}
data = "text"
batch_size = 4
steps = 2
optimizer = {{ learning_rate = 1e-3 }}
"""


def compare_program(hydra):
    """hydra train and hydra export: the exported model is what the run's checkpoint says."""
    torch.manual_seed(SEED)
    case = CASES["gpt2"]("gpt2")
    with tempfile.TemporaryDirectory() as path:
        path = pathlib.Path(path)
        case.model.save_pretrained(path / "checkpoint")
        (path / "w.toml").write_text(WORKLOAD.format(folder=path / "checkpoint"))
        run(hydra, "train", path / "w.toml", "--output", path / "run", "--quiet")
        run(hydra, "export", path / "run", "m", path / "exported")
        model, loading = transformers.GPT2LMHeadModel.from_pretrained(path / "exported", output_loading_info=True)
        require(not loading["missing_keys"] and not loading["unexpected_keys"], f"the export is not whole: {loading}")
        saved = read_checkpoint(max((path / "run" / "checkpoints" / "m").iterdir()))
        for name, value in model.transformer.state_dict().items():
            require_equal(f"exported {name}", value, saved[f"parameter.{name}"])
        require(not torch.equal(model.transformer.wte.weight, case.model.transformer.wte.weight), "nothing was trained")


def compare_generation(hydra):
    """hydra generate without chance: the tokens of transformers' greedy search."""
    for name in ("gpt2", "llama", "gemma2", "gemma3", "phi3", "mistral-window"):
        torch.manual_seed(SEED)
        model = CASES[name](name).model.eval()
        with tempfile.TemporaryDirectory() as path:
            model.save_pretrained(path)
            written = 0  # a text may end at once
            for prompt in ([1, 2, 3], [30], [9, 8, 7, 6, 5, 4]):
                ids = " ".join(map(str, prompt))
                out = run(hydra, "generate", path, "--temperature", 0, "--tokens", 10, "--prompt-ids", ids)
                expected = model.generate(torch.tensor([prompt]), attention_mask=torch.ones(1, len(prompt)),
                                          do_sample=False, max_new_tokens=10, pad_token_id=0)[0].tolist()
                if expected[-1] == model.config.eos_token_id:
                    expected.pop()
                require(out.split() == [str(i) for i in expected], f"{name}: {out.strip()} is written for {expected}")
                written += len(expected) - len(prompt)
            require(written > 0, f"{name}: nothing is written")


CLASSIFIERS = """[run]
seed = 7
[[device]]
kind = "cpu"
memory = "64MiB"
[data.pets]
kind = "images"
train = "{work}/pets"
validation = "{work}/pets"
mean = [0.5, 0.25, 0.125]
[data.moods]
kind = "csv"
train = "{work}/moods.csv"
text = "text"
target = "mood"
tokenizer = {{ vocab = "{work}/vocab.txt" }}
[[model]]
name = "vit"
chain = {{ family = "vit", layers = 1, width = 8, heads = 2, patch = 8 }}
data = "pets"
batch_size = 3
steps = 2
optimizer = {{ learning_rate = 1e-2 }}
[[model]]
name = "resnet"
chain = {{ family = "resnet", depths = "1,1", hidden_sizes = "8,16", embedding_size = 8, layer_type = "basic" }}
data = "pets"
batch_size = 3
steps = 2
optimizer = {{ learning_rate = 1e-2 }}
[[model]]
name = "bert"
chain = {{ family = "bert", layers = 1, width = 8, heads = 2, context = 8, vocabulary = 7, head = "classification" }}
data = "moods"
batch_size = 2
steps = 2
optimizer = {{ learning_rate = 1e-2 }}
"""


def write_classes(work):
    generator = torch.Generator().manual_seed(SEED)
    for name in ("cat", "dog", "eel"):
        (work / "pets" / name).mkdir(parents=True)
        for i in range(3):
            pixels = torch.randint(256, (32, 32, 3), generator=generator, dtype=torch.uint8)
            Image.fromarray(pixels.numpy()).save(work / "pets" / name / f"{i}.png")
    (work / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\ngood\nbad\n")
    (work / "moods.csv").write_text("text,mood\ngood good,positive\nbad,negative\n")
    (work / "w.toml").write_text(CLASSIFIERS.format(work=work))


def loss_of_pipeline(classify, pets):
    """Of the images in folders with their labels."""
    losses = []
    for file in sorted(pets.glob("*/*.png")):
        scores = {each["label"]: each["score"] for each in classify(str(file), top_k=3)}
        require(set(scores) == {"cat", "dog", "eel"}, f"the labels are {sorted(scores)}")
        losses.append(-math.log(scores[file.parent.name]))
    return sum(losses) / len(losses)


def compare_classifiers(hydra):
    """Exports in transformers' pipelines: labels of the data, and the loss that hydra train has found."""
    with tempfile.TemporaryDirectory() as path:
        work = pathlib.Path(path)
        write_classes(work)
        run(hydra, "train", work / "w.toml", "--output", work / "run", "--quiet")
        report = json.loads((work / "run" / "report.json").read_text())
        found = {m["name"]: m["validation"][-1]["loss"] for m in report["models"] if m.get("validation")}
        for name in ("vit", "resnet", "bert"):
            run(hydra, "export", work / "run", name, work / name)
        for name in ("vit", "resnet"):
            loss = loss_of_pipeline(transformers.pipeline("image-classification", model=str(work / name)), work / "pets")
            require(abs(loss - found[name]) <= 1e-4 * loss, f"{name}: the pipeline's loss is {loss}, hydra's {found[name]}")
        moods = transformers.pipeline("text-classification", model=str(work / "bert"))("good", top_k=2)
        require({each["label"] for each in moods} == {"negative", "positive"}, f"the labels are {moods}")


PROGRAM = {"hydra export is read by transformers": compare_program,
           "hydra export's classifiers are transformers' pipelines": compare_classifiers,
           "hydra generate is transformers' greedy search": compare_generation}


def main():
    probe, hydra, *chosen = sys.argv[1:]
    torch.set_num_threads(1)
    checks = {name: lambda n=name: compare(probe, n) for name in chosen or CASES}
    if not chosen:
        checks |= {claim: lambda c=check: c(hydra) for claim, check in PROGRAM.items()}
    sys.exit(run_checks(checks, share=1 if chosen else 2))


if __name__ == "__main__":
    main()
