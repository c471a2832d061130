"""Grey PNG of 16 bits (X-rays, microscopes)

Reports: python-pillow/Pillow#3011, #2574, unslothai/unsloth#10094: convert("RGB") clips 16 bits at 255: white images.
Right: the value divided by 257, or its high byte.
Passes: the loss of `hydra evaluate` is that of one of these.
"""
import pathlib

import numpy
from PIL import Image

from inputs import MODEL, loss_of_pictures, vit_of_two_classes
from outputs import near, show

WORKLOAD = """
[data.d]
kind = "images"
train = "pictures"
validation = "pictures"
mean = [0.5, 0.5, 0.5]
deviation = [0.5, 0.5, 0.5]
""" + MODEL.replace(", context = 32", "")


def case(hydra):
    model, chance, divided, high = vit_of_two_classes(), numpy.random.default_rng(1), [], []
    for label, name in enumerate("ab"):
        pathlib.Path("pictures", name).mkdir(parents=True)
        for k in range(2):
            ramp = numpy.linspace(0, 1, 32)[None, :] * numpy.linspace(0.2, 1, 32)[:, None]
            values = (ramp * chance.uniform(0.4, 1) * 65535).astype(numpy.uint16)
            Image.fromarray(values).save(f"pictures/{name}/{k}.png")
            assert Image.open(f"pictures/{name}/{k}.png").mode == "I;16"
            divided.append((Image.fromarray(numpy.rint(values / 257).astype(numpy.uint8)), label))
            high.append((Image.fromarray((values >> 8).astype(numpy.uint8)), label))
    right = [loss_of_pictures(model, pictures) for pictures in (divided, high)]
    ran = hydra.evaluate()
    yield any(near(ran.value(), r, 2e-3) for r in right), ran.loss(), show(right[0])
