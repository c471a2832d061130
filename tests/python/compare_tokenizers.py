#!/usr/bin/env python3
"""Compares Hydra's tokenizers with the `tokenizers` package: token ids and decoded texts, which must all be equal.

    compare_tokenizers.py HYDRA [--strings N] [--text BYTES] [--only NAME]

HYDRA is the program. Texts: all of WikiText-2, or where that is missing the tree's own text, as a whole and by lines, and N
seeded random Unicode strings. Tokenizers: GPT-2's files, where they are; Llama 3's form with merges that stay within words
and merges that cross them, with and without ignore_merges; Qwen2's form (NFC); a cased and an uncased BERT; one that Hydra has
learnt, which must also be the one that the package learns. Of SentencePiece's kinds: those of piece_tokenizers.py, and its
tokenizer.model files, which are compared with the package `sentencepiece`. Needs only these packages: exit status 77 where one
is missing.
WikiText-2 and GPT-2's files are looked for in $HYDRA_TEST_DATA, else in ../shared/data next to the tree.

Unicode: the package's tables are of several versions (its patterns 16, its BERT categories 8), Hydra's are those of the
system's PCRE2 (14 or later) and utf8proc. Random strings therefore have only characters that were assigned in Unicode 14
and that the package's BERT parts and NFKC see as Unicode 14 does.
"""
import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unicodedata

from checks import sampled

SKIPPED = 77
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
          r"|\s*[\r\n]+|\s+(?!\S)|\s+")
QWEN2 = LLAMA3.replace("{1,3}", "")
LLAMA3_SPECIAL = ["<|begin_of_text|>", "<|end_of_text|>", "<|eot_id|>", "<|reserved|>", "<|reserved|>x"]
BERT_SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
RANGES = [(0x20, 0x7E), (0xA0, 0x24F), (0x300, 0x36F), (0x370, 0x3FF), (0x400, 0x4FF), (0x5D0, 0x5EA), (0x620, 0x65F),
          (0x900, 0x965), (0xE01, 0xE4E), (0x1100, 0x11F9), (0x1E00, 0x1EFF), (0x1F00, 0x1FFE), (0x2000, 0x206F),
          (0x20D0, 0x20F0), (0x2100, 0x218B), (0x2460, 0x24FF), (0x3000, 0x30FF), (0x4E00, 0x9FCC), (0xAC00, 0xD7A3),
          (0xF900, 0xFAD9), (0xFE00, 0xFE0F), (0xFF01, 0xFFEE), (0x1F1E6, 0x1F64F), (0x20000, 0x2A6D6)]
SPACES = " \t\n\r\v\f\x85\xa0\u1680\u180e\u2003\u2028\u2029\u200b\u3000\ufeff"
SNIPPETS = ["'s", "'T", "'re", "'LL", "'\u017f", " don't", " do not", "\r\n", "   ", "<|endoftext|>", "<|eot_id|>",
            "<|reserved|>x", "[MASK]", "[mask]", "##s", "1234567", "\u0130", "\u00df", "e\u0301", "\u1e9b\u0323", "a" * 120,
            "\U0001F468\u200d\U0001F469\u200d\U0001F467", "\U0001F1E9\U0001F1EA", "\u1100\u1161\u11a8", "\u0344", "\u212b"]


def skip(why):
    print("SKIP:", why)
    sys.exit(SKIPPED)


try:
    from tokenizers import (AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors,
                            trainers)

    import piece_tokenizers
except ImportError:
    other = os.environ.pop("HYDRA_TEST_PYTHON", None)
    if not other:
        skip("this Python has not both packages `tokenizers` and `sentencepiece`; HYDRA_TEST_PYTHON can name one that has")
    os.execv(other, [other, *sys.argv])


class Program:
    """Hydra's side: runs on files in a folder of its own."""

    def __init__(self, program, folder):
        self.program, self.folder, self.count = program, folder, 0

    def run(self, *arguments):
        done = subprocess.run([self.program, "tokenize", *map(str, arguments)], capture_output=True, check=False)
        if done.returncode != 0:
            sys.exit(f"hydra tokenize {arguments}: exit {done.returncode}: {done.stderr.decode()}")
        return done.stdout

    def file(self, suffix, content=None):
        self.count += 1
        path = self.folder / f"{self.count}{suffix}"
        if content is not None:
            path.write_bytes(content)
        return path

    def records(self, tokenizer, texts):
        path = self.file(".jsonl", b"".join(json.dumps({"text": t}).encode() + b"\n" for t in texts))
        return [json.loads(line) for line in self.run(path, "--tokenizer", tokenizer, "--json").splitlines()]

    def ids(self, tokenizer, text):
        path, out = self.file(".txt", text.encode()), self.file(".bin")
        self.run(path, "--tokenizer", tokenizer, "--output", out)
        return list(memoryview(out.read_bytes()).cast("I"))

    def decoded(self, tokenizer, lists):
        path = self.file(".ids", b"".join(json.dumps(ids).encode() + b"\n" for ids in lists))
        return [json.loads(line) for line in self.run(path, "--tokenizer", tokenizer, "--decode", "--json").splitlines()]


def known_characters():
    """Assigned in Unicode 14, and seen alike by the package's older tables; the others, for the report."""
    cleaned = normalizers.BertNormalizer(True, False, False, False)
    stripped = normalizers.BertNormalizer(False, False, True, False)
    words, compatible = pre_tokenizers.BertPreTokenizer(), normalizers.NFKC()
    known, differing = [], 0
    for code in range(0x110000):
        c, category = chr(code), unicodedata.category(chr(code))
        if category in ("Cn", "Cs"):
            continue
        dropped = c not in "\t\n\r" and (category in ("Cc", "Cf", "Co") or c in "\0\ufffd")
        bare = "".join(x for x in unicodedata.normalize("NFD", c) if unicodedata.category(x) != "Mn")
        alone = category[0] == "P" or (code < 128 and category[0] == "S")
        same = ((cleaned.normalize_str(c) == "") == dropped and stripped.normalize_str(c) == bare and
                (len(words.pre_tokenize_str("a" + c + "b")) == 3) == alone and
                compatible.normalize_str(c) == unicodedata.normalize("NFKC", c))
        known.append(c) if same else None
        differing += not same
    print(f"{len(known)} characters; left out: {differing} of Unicode {unicodedata.unidata_version} that the package's "
          "BERT and NFKC tables see otherwise, and all that are not assigned there")
    return known


def random_strings(count):
    chance = random.Random(8)
    known = known_characters()
    allowed = set(known)
    if unicodedata.unidata_version.split(".")[0] > "14":
        known = [c for c in known if ord(c) < 0x3000]  # of blocks that have not grown since
    scripts = [[chr(c) for c in range(a, b + 1) if chr(c) in allowed] for a, b in RANGES]

    def piece():
        kind = chance.random()
        if kind < 0.45:
            letters = chance.choice(scripts)
            return "".join(chance.choice(letters) for _ in range(chance.randint(1, 8)))
        if kind < 0.65:
            return "".join(chance.choice(SPACES) for _ in range(chance.randint(1, 3)))
        if kind < 0.8:
            return chance.choice(SNIPPETS)
        if kind < 0.9:
            return chr(chance.randrange(0x20))
        return "".join(chance.choice(known) for _ in range(chance.randint(1, 3)))

    return ["".join(piece() for _ in range(chance.randint(1, 20))) for _ in range(count)]


def byte_level(add_prefix_space=False, use_regex=True):
    return pre_tokenizers.ByteLevel(add_prefix_space=add_prefix_space, use_regex=use_regex)


def gpt2(files, _):
    t = Tokenizer(models.BPE.from_file(str(files / "vocab.json"), str(files / "merges.txt")))
    t.pre_tokenizer, t.decoder = byte_level(), decoders.ByteLevel()
    t.add_special_tokens(["<|endoftext|>"])
    return t


def learnt_bpe(text, words, normalizer=None, size=6000):
    t = Tokenizer(models.BPE())
    t.normalizer = normalizer
    t.pre_tokenizer = words
    t.train_from_iterator(text, trainers.BpeTrainer(vocab_size=size, show_progress=False, max_token_length=24,
                                                    initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    return t


def split_words(pattern):
    return pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(pattern), "isolated"), byte_level(use_regex=False)])


def llama3(text, merges, ignore_merges):
    """Merges that cross the words are learnt from lines; most of them then are in no word, or are reached in part. Of
    merges in reverse order, hardly any reaches the whole words that are tokens."""
    t = learnt_bpe(text, byte_level(use_regex=False) if merges == "crossing" else split_words(LLAMA3))
    if merges == "reversed":
        file = json.loads(t.to_str())
        file["model"]["merges"].reverse()
        t = Tokenizer.from_str(json.dumps(file))
    t.model.ignore_merges = ignore_merges
    t.pre_tokenizer, t.decoder = split_words(LLAMA3), decoders.ByteLevel()
    t.add_special_tokens(LLAMA3_SPECIAL)
    t.add_tokens([AddedToken("word", single_word=True), AddedToken("<left>", lstrip=True),
                  AddedToken("<right>", rstrip=True)])
    t.post_processor = processors.TemplateProcessing(single="<|begin_of_text|> $A",
                                                     special_tokens=[("<|begin_of_text|>", 6000)])
    return t


def qwen2(text):
    t = learnt_bpe(text, split_words(QWEN2), normalizers.NFC())
    t.decoder = decoders.ByteLevel()
    t.add_special_tokens(["<|endoftext|>"])
    return t


def roberta(text):
    t = learnt_bpe(text, byte_level(add_prefix_space=True))
    t.decoder = decoders.ByteLevel()
    t.add_special_tokens([AddedToken("<mask>", lstrip=True), "<|endoftext|>"])
    return t


def bert(text, lowercase):
    t = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    t.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    t.pre_tokenizer, t.decoder = pre_tokenizers.BertPreTokenizer(), decoders.WordPiece()
    t.train_from_iterator(text, trainers.WordPieceTrainer(vocab_size=6000, special_tokens=BERT_SPECIAL, show_progress=False))
    t.add_tokens([AddedToken("Valkyria", normalized=True)])
    return t


def tokenizers_of(data, text, program, only):
    """name -> (what Hydra opens, the package's)."""
    def saved(t):
        path = program.file(".model" if isinstance(t, piece_tokenizers.Pieces) else ".json")
        t.save(str(path))
        return path, t

    lines = text.splitlines(keepends=True)
    files = data / "gpt2-tokenizer"
    made = {"gpt2": (files, gpt2(files, text))} if (files / "vocab.json").exists() else {}
    makers = {f"llama3, merges {m}, ignored {i}": lambda m=m, i=i: llama3(lines, m, i)
              for m in ("plain", "crossing", "reversed") for i in (False, True)}
    makers |= {"qwen2": lambda: qwen2(lines), "roberta": lambda: roberta(lines)}
    makers |= {f"bert, lowercase {low}": lambda low=low: bert(lines, low) for low in (True, False)}
    makers |= piece_tokenizers.makers(lines)
    made |= {name: saved(make()) for name, make in sampled(makers, 1 if only else 2).items() if only in name}
    learnt = program.file(".json")
    program.run(program.file(".txt", text.encode()), "--train", 6000, "--output", learnt, "--special", "<|endoftext|>")
    made["hydra"] = (learnt, Tokenizer.from_file(str(learnt)))
    return made


def learns_the_same(learnt, text):
    own = json.loads(pathlib.Path(learnt).read_text())["model"]
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = byte_level()
    t.train_from_iterator([text], trainers.BpeTrainer(vocab_size=6000, show_progress=False, min_frequency=2,
                                                      special_tokens=["<|endoftext|>"],
                                                      initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    theirs = json.loads(t.to_str())["model"]
    merges = [" ".join(m) if isinstance(m, list) else m for m in theirs["merges"]]
    same = own["vocab"] == theirs["vocab"] and own["merges"] == merges
    print(f"learnt by hydra: {len(own['merges'])} merges, {'equal to' if same else 'OTHERS than'} the package's")
    return 0 if same else 1


def differences(name, what, pairs):
    wrong = [(i, ours, theirs) for i, (ours, theirs) in enumerate(pairs) if ours != theirs]
    for i, ours, theirs in wrong[:3]:
        print(f"{name}: {what} {i}: hydra {repr(ours):.300}, package {repr(theirs):.300}")
    return len(wrong)


def compare(name, ours, theirs, program, texts):
    whole, lines, strings = texts
    encoded = [[e.ids for e in theirs.encode_batch(t, add_special_tokens=False)] for t in ([whole], lines, strings)]
    wrong = differences(name, "whole text", [(program.ids(ours, whole), encoded[0][0])])
    wrong += differences(name, "line", zip(program.records(ours, lines), encoded[1], strict=True))
    found = program.records(ours, strings)
    wrong += differences(name, "string", zip(found, encoded[2], strict=True))
    for ids in (encoded[1], encoded[2]):
        back = theirs.decode_batch(ids, skip_special_tokens=False)
        wrong += differences(name, "decoded", zip(program.decoded(ours, ids), back, strict=True))
    total = sum(map(len, encoded[0])) + sum(map(len, encoded[2]))
    print(f"{name}: {total} tokens of text and strings, {wrong} differences", flush=True)
    return wrong


def text_of(data, tree):
    """WikiText-2 is not the project's to ship."""
    sources = [data / "wikitext-2" / name for name in ("valid.txt", "test.txt")]
    if not all(f.exists() for f in sources):
        print(f"{data} has no WikiText-2: the tree's own text instead; GPT-2's files are looked for there, too")
        sources = [f for folder in ("runtime", "models", "partition") for f in sorted((tree / folder).rglob("*.[ch]pp"))]
    text = "".join(f.read_bytes().decode() for f in sources)
    return text.replace("<|endoftext|>", "")  # which learning would leave out here and not there


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("hydra")
    arguments.add_argument("--strings", type=int, default=10_000)
    arguments.add_argument("--text", type=int, default=0, metavar="CHARACTERS",
                           help="of the text are learnt and compared; 0: all")
    arguments.add_argument("--only", default="", help="tokenizers whose name has this")
    options = arguments.parse_args()
    tree = pathlib.Path(__file__).resolve().parents[2]
    data = pathlib.Path(os.environ.get("HYDRA_TEST_DATA") or tree.parent / "shared" / "data")
    text = text_of(data, tree)
    if options.text:
        text = text[:options.text].rpartition("\n")[0]
    strings = random_strings(options.strings)
    lines = [line for line in text.split("\n") if line]
    with tempfile.TemporaryDirectory() as folder:
        program = Program(options.hydra, pathlib.Path(folder))
        made = tokenizers_of(data, text, program, options.only)
        wrong = learns_the_same(made["hydra"][0], text)
        for name, (ours, theirs) in made.items():
            wrong += 0 if options.only not in name else compare(name, ours, theirs, program, (text, lines, strings))
    print(f"{wrong} differences")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
