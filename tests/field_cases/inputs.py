"""What cases make: small random tokenizers and checkpoints, files of records, and what is right by transformers."""
import json
import os
import pathlib
import shutil

os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch_of_build  # noqa: F401 pylint: disable=unused-import
import numpy
import torch
import transformers
from PIL import Image
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

transformers.utils.logging.disable_progress_bar()
transformers.utils.logging.set_verbosity_error()

WORDS = ("the cat sat on a mat and a dog ran to the red house by the sea where two small birds sing of rain "
         "question answer which number is larger than seven or nine plus minus equals four five six yes no").split()
TEXTS = [" ".join(WORDS[i:] + WORDS[:i]) for i in range(len(WORDS))]

# Parts of workloads. Before those of a case, the runner writes [run] and a [[device]], unless the case has its own.
RECORDS = """
[data.d]
kind = "jsonl"
train = "data.jsonl"
validation = "data.jsonl"
"""
BYTES = """
[data.d]
kind = "text"
tokenizer = "bytes"
train = "text.txt"
validation = "text.txt"
"""
MODEL = """
[[model]]
name = "m"
chain = { from = "model", context = 32 }
data = "d"
batch_size = 2
steps = 1
optimizer = { kind = "sgd", learning_rate = 0.1 }
"""


# -- tokenizers ------------------------------------------------------------------------------------------------------------


def byte_bpe(specials=("<|endoftext|>",)):
    """Of 320 tokens, byte-level as GPT-2's; the specials are the first ids."""
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    t.decoder = decoders.ByteLevel()
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    t.train_from_iterator(TEXTS, trainers.BpeTrainer(vocab_size=320, special_tokens=list(specials), show_progress=False,
                                                     initial_alphabet=letters))
    return t


def chat_bpe():
    return byte_bpe(("<|endoftext|>", "<|im_start|>", "<|im_end|>"))


def piece_bpe(specials=("<unk>", "<s>", "</s>")):
    """As Llama 2's: blanks are a letter, and one is put before the text."""
    t = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True))
    t.normalizer = normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])
    t.decoder = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    letters = sorted(set("".join(WORDS) + "\u2581=+-?:.,!0123456789QA"))
    t.train_from_iterator(WORDS * len(TEXTS), trainers.BpeTrainer(vocab_size=200, special_tokens=list(specials),
                                                                  show_progress=False, initial_alphabet=letters))
    return t


def begins_with(t, token):
    """The tokenizer with that token before every text."""
    t.post_processor = processors.TemplateProcessing(single=f"{token} $A", pair=f"{token} $A {token} $B",
                                                     special_tokens=[(token, t.token_to_id(token))])
    return t


def save_tokenizer(t, folder, **settings):
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    t.save(f"{folder}/tokenizer.json")
    write_json(f"{folder}/tokenizer_config.json", {"tokenizer_class": "PreTrainedTokenizerFast", **settings})


# -- checkpoints -----------------------------------------------------------------------------------------------------------

CLASSES = {"Bert": "BertForSequenceClassification", "ViT": "ViTForImageClassification", "GPT2": "GPT2LMHeadModel"}


def tiny(kind, folder, seed=0, spread=0.3, **options):
    """A random model of transformers, saved. Large weights: what is wrong shows in the loss."""
    torch.manual_seed(seed)
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48}
    if kind == "GPT2":
        sizes = {"n_embd": 8, "n_layer": 1, "n_head": 2, "n_positions": 64, "bos_token_id": None, "eos_token_id": None}
    elif kind not in CLASSES:
        sizes |= {"num_key_value_heads": 2, "max_position_embeddings": 64}
        sizes |= {"bos_token_id": None, "eos_token_id": None, "pad_token_id": None}
    config = getattr(transformers, kind + "Config")(**{**sizes, **options})
    model = getattr(transformers, CLASSES.get(kind, kind + "ForCausalLM"))(config).eval()
    with torch.no_grad():
        for p in model.parameters():
            if p.ndim > 1:
                p.normal_(0, spread)
    model.save_pretrained(folder)
    return model


def llama_of_words(folder="model", **options):
    """A byte-level tokenizer, whose token 0 ends a text, and a Llama of its size, in one folder."""
    words = byte_bpe()
    model = tiny("Llama", folder, vocab_size=words.get_vocab_size(), **options)
    save_tokenizer(words, folder, eos_token="<|endoftext|>", add_bos_token=False)
    return words, model


def bert_of_words(**options):
    """A WordPiece tokenizer and a classifier of its size in `model`; its tokenizer as transformers reads it."""
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + sorted(set(WORDS))
    model = tiny("Bert", "model", vocab_size=len(words), max_position_embeddings=32, hidden_dropout_prob=0.0,
                 attention_probs_dropout_prob=0.0, **options)
    pathlib.Path("vocab.txt").write_text("\n".join(words) + "\n")
    transformers.BertTokenizer(vocab="vocab.txt").save_pretrained("model")
    return transformers.AutoTokenizer.from_pretrained("model"), model


def vit_of_two_classes(folder="model"):
    return tiny("ViT", folder, image_size=32, patch_size=8, num_channels=3, hidden_dropout_prob=0.0,
                attention_probs_dropout_prob=0.0, id2label={0: "a", 1: "b"}, label2id={"a": 0, "b": 1}, spread=0.5)


def causal_model(folder):
    return transformers.AutoModelForCausalLM.from_pretrained(folder).eval()


def change_json(file, **values):
    """Replaces members of a JSON object in a file."""
    write_json(file, {**json.loads(pathlib.Path(file).read_text()), **values})


def change_weights(folder, change):
    """Replaces the tensors of a checkpoint, or of an adapter, by what `change` makes of them."""
    file = next(p for p in pathlib.Path(folder).iterdir() if p.suffix == ".safetensors")
    save_file({k: v.contiguous() for k, v in change(load_file(file)).items()}, file, {"format": "pt"})


def copied(folder, name):
    shutil.copytree(folder, name)
    return name


# -- losses ----------------------------------------------------------------------------------------------------------------


def loss_of(model, ids, labels=None):
    """Sum of the losses of a text, and how many; labels are ids (not shifted), or -100 for what does not count."""
    ids = torch.tensor([ids])
    labels = ids if labels is None else torch.tensor([labels])
    with torch.no_grad():
        logits = model(input_ids=ids).logits[0, :-1].double()
    total = torch.nn.functional.cross_entropy(logits, labels[0, 1:], ignore_index=-100, reduction="sum")
    return float(total), int((labels[0, 1:] != -100).sum())


def mean(parts):
    """Of sums of losses with their numbers."""
    return sum(s for s, _ in parts) / sum(n for _, n in parts)


def answer(prompt, ids):
    """A text's ids and labels, of which only those of the answer count."""
    return prompt + ids, [-100] * len(prompt) + ids


def loss_of_texts(model, words, texts):
    """Of texts that token 0 ends."""
    return mean([loss_of(model, words.encode(s).ids + [0]) for s in texts])


def byte_windows():
    """text.txt, and the samples that Hydra makes of its bytes in a context of 32."""
    data = " ".join(TEXTS[:4]).encode()
    pathlib.Path("text.txt").write_bytes(data)
    return [list(data[i:i + 33]) for i in range(0, len(data) - 32, 32)]


def loss_of_windows(model, windows):
    return mean([loss_of(model, w) for w in windows])


def loss_of_pictures(model, pictures, center=0.5, deviation=0.5):
    """Of images with their classes, stretched to 32 x 32."""
    def values(picture):
        x = numpy.asarray(picture.convert("RGB").resize((32, 32), Image.BILINEAR), dtype=numpy.float64) / 255
        return torch.tensor((x - numpy.array(center)) / numpy.array(deviation), dtype=torch.float32).permute(2, 0, 1)[None]
    with torch.no_grad():
        logits = torch.cat([model(pixel_values=values(p)).logits for p, _ in pictures])
    return float(torch.nn.functional.cross_entropy(logits, torch.tensor([c for _, c in pictures])))


# -- files -----------------------------------------------------------------------------------------------------------------


def write_json(file, value):
    pathlib.Path(file).write_text(json.dumps(value, indent=1))


def write_jsonl(file, records):
    pathlib.Path(file).write_text("".join(json.dumps(r) + "\n" for r in records))


def write_texts(file, texts):
    write_jsonl(file, [{"text": s} for s in texts])
