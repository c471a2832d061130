"""preprocessor_config.json of the checkpoint

Reports: staghado/vit.cpp#18 (open), isl-org/DPT#13, Yangsenqiao/vida#14 (error 55.8 instead of 49.8): ViT checkpoints
want mean and deviation 0.5, as the preprocessor_config.json next to them says; pipelines take ImageNet's.
Right: the checkpoint's numbers where the data name none, or a note that they differ from those of the data.
Passes: the loss of `hydra evaluate`; or a line of `evaluate` or `train` names preprocessor_config.json or image_mean,
and none does for the same checkpoint without that file; or a refusal that does. The export's preprocessor_config.json
has the numbers that were trained with.
"""
import pathlib

import numpy
from PIL import Image

from inputs import MODEL, copied, loss_of_pictures, vit_of_two_classes, write_json
from outputs import attempt, near, noted, read_json, show

WORKLOAD = """
[data.d]
kind = "images"
train = "pictures"
validation = "pictures"
""" + MODEL.replace(", context = 32", "")
IMAGENET = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]


def make_pictures():
    chance, made = numpy.random.default_rng(2), []
    for label, name in enumerate("ab"):
        pathlib.Path("pictures", name).mkdir(parents=True)
        for k in range(2):
            made.append((Image.fromarray(chance.integers(0, 256, (32, 32, 3), dtype=numpy.uint8)), label))
            made[-1][0].save(f"pictures/{name}/{k}.png")
    return made


def case(hydra):
    model = vit_of_two_classes("alone")
    write_json(copied("alone", "model") + "/preprocessor_config.json",
               {"image_processor_type": "ViTImageProcessor", "do_normalize": True, "do_rescale": True, "do_resize": True,
                "rescale_factor": 1 / 255, "image_mean": [0.5] * 3, "image_std": [0.5] * 3, "resample": 2,
                "size": {"height": 32, "width": 32}})
    pictures = make_pictures()
    right, by_imagenet = loss_of_pictures(model, pictures), loss_of_pictures(model, pictures, *IMAGENET)
    evaluation, train, words = hydra.evaluate(), hydra.train(), r"preprocessor_config|image_mean"
    alone = hydra.evaluate("model.chain.from=alone"), hydra.train("run-alone", "model.chain.from=alone")
    yield alone[0].status == 0, "without the file: " + alone[0].brief(), "accepted"
    if evaluation.refused(words, "mean"):
        return
    used, told = near(evaluation.value(), right, 2e-3), noted((evaluation, train), alone, words)
    yield (used or told and near(evaluation.value(), by_imagenet, 2e-3), evaluation.loss() + (", with a note" if told else ""),
           f"{show(right)}, or a note that preprocessor_config.json says otherwise, where there is one")
    hydra.export()
    stored = attempt(lambda: read_json("exported/preprocessor_config.json")["image_mean"])
    trained_with = [0.5] * 3 if used else IMAGENET[0]
    yield (isinstance(stored, list) and all(map(near, stored, trained_with)), f"image_mean of the export {stored}",
           f"{trained_with}, as trained")
