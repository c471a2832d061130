"""nanoGPT's train.bin

Reports: karpathy/nanoGPT writes train.bin as uint16.
Right: a refusal: ids are uint32. (pairs.bin cannot be told from uint32 below 70000, but a vocabulary of 50257 refuses
it.)
Passes: exit status 2 with the name of the file, for three; ids of 32 bits are read.
"""
import pathlib

import numpy

from inputs import MODEL, tiny

WORKLOAD = '\n[[device]]\nkind = "cpu"\nmemory = "256MiB"\n' + """
[data.d]
kind = "tokens"
vocabulary = 50257
train = "whole.bin"
""" + MODEL


def case(hydra):
    tiny("GPT2", "model", vocab_size=70000)
    numpy.arange(400, dtype="<u2").tofile("small.bin")
    numpy.stack([numpy.arange(200, dtype="<u2"), numpy.ones(200, dtype="<u2")], 1).tofile("pairs.bin")  # 65536 and more
    pathlib.Path("odd.bin").write_bytes(b"\0\0\1\0\2\0" * 33)
    numpy.arange(400, dtype="<u4").tofile("whole.bin")
    for name in ("small", "pairs", "odd"):
        ran = hydra.plan(f"data.d.train={name}.bin")
        yield (ran.refused(rf"{name}\.bin", r"token|\bids?\b|uint|bytes"), ran.brief(),
               f"a refusal that names {name}.bin and its ids")
    whole = hydra.plan()
    yield whole.status == 0, f"ids of 32 bits: {whole.brief()}", "accepted"
