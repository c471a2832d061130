"""Tokenizers of SentencePiece's kinds for compare_tokenizers.py: learnt by the package `sentencepiece`, as its own
tokenizer.model, and as the tokenizer.json of the package `tokenizers` that such models become."""
import functools
import io
import itertools
import re
import types

import sentencepiece
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

BLANK = "\u2581"
SIZE = 4000


class Pieces:
    """A model of the package `sentencepiece` with the functions of a tokenizer that the comparison uses. Its control
    symbols are found in a text, as special tokens are elsewhere; what is between them is the package's."""

    def __init__(self, model):
        self.model = model
        self.processor = p = sentencepiece.SentencePieceProcessor(model_proto=model)
        self.control = {p.id_to_piece(i): i for i in range(p.get_piece_size()) if p.is_control(i)}

    def encode(self, text):
        parts = re.split("(" + "|".join(map(re.escape, self.control)) + ")", text)
        lists = [[self.control[p]] if p in self.control else self.processor.encode(p) for p in parts]
        return list(itertools.chain.from_iterable(lists))

    def decode(self, ids):
        runs = itertools.groupby(ids, lambda i: i in self.control.values())
        return "".join("".join(map(self.processor.id_to_piece, run)) if control else self.processor.decode(list(run))
                       for control, run in runs)

    def encode_batch(self, texts, add_special_tokens):
        return [types.SimpleNamespace(ids=self.encode(t)) for t in texts]

    def decode_batch(self, lists, skip_special_tokens):
        return [self.decode(ids) for ids in lists]

    def save(self, path):
        with open(path, "wb") as file:
            file.write(self.model)

    def vocabulary(self):
        p = self.processor
        return [(p.id_to_piece(i), p.get_score(i)) for i in range(p.get_piece_size())]

    def charsmap(self):
        """NormalizerSpec.precompiled_charsmap of the model, a protobuf: field 2 of field 3."""
        return field(field(self.model, 3), 2)


def field(message, number):
    """The last field of a protobuf message that has bytes and this number."""
    def varint(at):
        value = shift = 0
        while True:
            value |= (message[at] & 127) << shift
            shift, at = shift + 7, at + 1
            if message[at - 1] < 128:
                return value, at

    found, at = b"", 0
    while at < len(message):
        key, at = varint(at)
        if key & 7 == 2:
            length, at = varint(at)
            found = message[at:at + length] if key >> 3 == number else found
            at += length
        else:
            at = varint(at)[1] if key & 7 == 0 else at + {1: 8, 5: 4}[key & 7]
    return found


def learnt(lines, kind, **options):
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=model, model_type=kind, vocab_size=SIZE, character_coverage=0.999,
        max_sentence_length=100_000, num_threads=1, minloglevel=2, **options)
    return Pieces(model.getvalue())


def llama_model(lines):
    """Llama 2's options."""
    return learnt(lines, "bpe", normalization_rule_name="identity", byte_fallback=True, split_digits=True,
                  allow_whitespace_only_pieces=True, remove_extra_whitespaces=False)


def merges_of(vocabulary):
    """As transformers converts a model: all pairs of pieces whose union is a piece, by its score."""
    scores = dict(vocabulary)
    ids = {piece: i for i, (piece, _) in enumerate(vocabulary)}
    merges = []
    for piece, score in vocabulary:
        pairs = [(piece[:i], piece[i:]) for i in range(1, len(piece)) if piece[:i] in scores and piece[i:] in scores]
        merges += [(*pair, score) for pair in sorted(pairs, key=lambda p: (ids[p[0]], ids[p[1]]))]
    return [(left, right) for left, right, _ in sorted(merges, key=lambda m: m[2], reverse=True)]


def bpe(model, byte_fallback=True, fuse_unk=True):
    vocabulary = model.vocabulary()
    if not byte_fallback:
        vocabulary = [(p, s) for p, s in vocabulary if not p.startswith("<0x")]
    return Tokenizer(models.BPE({p: i for i, (p, _) in enumerate(vocabulary)}, merges_of(vocabulary), unk_token="<unk>",
                                fuse_unk=fuse_unk, byte_fallback=byte_fallback))


def with_specials(t):
    t.add_special_tokens([AddedToken(s, normalized=False, special=True) for s in ("<unk>", "<s>", "</s>", "[MASK]")])
    t.add_tokens([AddedToken("<|eot_id|>", normalized=True), AddedToken("word", single_word=True, normalized=False),
                  AddedToken("<|reserved|>", lstrip=True, normalized=False)])
    return t


def bytes_decoder(strip):
    steps = [decoders.Replace(BLANK, " "), decoders.ByteFallback(), decoders.Fuse()]
    return decoders.Sequence(steps + ([decoders.Strip(" ", strip, 0)] if strip else []))


def llama2(model):
    t = bpe(model)
    t.normalizer = normalizers.Sequence([normalizers.Prepend(BLANK), normalizers.Replace(" ", BLANK)])
    t.decoder = bytes_decoder(1)
    return with_specials(t)


def gemma(model):
    t = bpe(model)
    t.normalizer = normalizers.Replace(" ", BLANK)
    t.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    t.decoder = bytes_decoder(0)
    return with_specials(t)


def metaspace_bpe(model, scheme, split, **options):
    """Without byte fallback, unknown characters are one token each or one for a run."""
    t = bpe(model, **options)
    t.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=scheme, split=split)
    t.decoder = decoders.Metaspace(prepend_scheme=scheme)
    return with_specials(t)


def precompiled(model):
    return normalizers.Precompiled(model.charsmap())


def unigram(model, normalizer, words, byte_fallback=False):
    t = Tokenizer(models.Unigram(model.vocabulary(), model.processor.unk_id(), byte_fallback))
    t.normalizer, t.pre_tokenizer = normalizer, words
    t.decoder = bytes_decoder(1) if byte_fallback else decoders.Metaspace()
    return with_specials(t)


def words_of_t5():
    return pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])


def t5(model):
    return unigram(model, precompiled(model), words_of_t5())


def albert(model):
    n = normalizers
    return unigram(model, n.Sequence([n.Replace("``", '"'), n.Replace("''", '"'), n.NFKD(), n.StripAccents(), n.Lowercase(),
                                      precompiled(model), n.Replace(Regex(" {2,}"), " ")]), words_of_t5())


def xlm_roberta(model):
    n = normalizers
    return unigram(model, n.Sequence([precompiled(model), n.Strip(left=False, right=True),
                                      n.Replace(Regex(" {2,}"), BLANK)]),
                   pre_tokenizers.Metaspace(prepend_scheme="first"))


def whole_texts(model):
    return unigram(model, normalizers.NFKC(), pre_tokenizers.Metaspace(split=False), byte_fallback=True)


def makers(lines):
    """name -> a function that makes the package's tokenizer."""
    llama = functools.cache(lambda: llama_model(lines))
    plain = functools.cache(lambda: learnt(lines, "unigram"))
    with_bytes = functools.cache(lambda: learnt(lines, "unigram", byte_fallback=True, add_dummy_prefix=False,
                                                control_symbols=["<ctl>"],
                                                user_defined_symbols=["Valkyria", "<|eot_id|>"]))
    return {
        "llama2": lambda: llama2(llama()),
        "gemma": lambda: gemma(llama()),
        "metaspace bpe, first": lambda: metaspace_bpe(llama(), "first", False),
        "metaspace bpe, never, fused": lambda: metaspace_bpe(llama(), "never", True, byte_fallback=False),
        "metaspace bpe, always": lambda: metaspace_bpe(llama(), "always", True, byte_fallback=False, fuse_unk=False),
        "t5": lambda: t5(plain()),
        "albert": lambda: albert(plain()),
        "xlm-roberta": lambda: xlm_roberta(plain()),
        "unigram, whole texts, bytes": lambda: whole_texts(with_bytes()),
        "tokenizer.model, bpe": llama,
        "tokenizer.model, unigram": plain,
        "tokenizer.model, unigram, bytes": with_bytes,
    }
