"""Models of images: transformers', and small ones of the kinds that torchvision has."""
import torch
import transformers
from torch import nn
from torch.nn import functional as F

from .data import lengths_mask, reals, shaken, tokens


def vit():
    config = transformers.ViTConfig(hidden_size=24, num_hidden_layers=3, num_attention_heads=3, intermediate_size=40,
                                    image_size=16, patch_size=4, num_labels=5, hidden_dropout_prob=0.0,
                                    attention_probs_dropout_prob=0.0)
    return shaken(transformers.ViTForImageClassification(config)), {"pixel_values": reals(3, 16, 16)}


class ImagesAndTexts(nn.Module):
    """CLIP with one result: how well each image of a batch goes with each text."""

    def __init__(self):
        super().__init__()
        text = {"vocab_size": 37, "hidden_size": 24, "intermediate_size": 40, "num_hidden_layers": 2, "num_attention_heads": 3,
                "max_position_embeddings": 16, "eos_token_id": 2, "bos_token_id": 1, "pad_token_id": 0}
        image = {"hidden_size": 24, "intermediate_size": 40, "num_hidden_layers": 2, "num_attention_heads": 3, "image_size": 16,
                 "patch_size": 8}
        self.clip = transformers.CLIPModel(transformers.CLIPConfig(text_config=text, vision_config=image, projection_dim=16))

    def forward(self, input_ids, attention_mask, pixel_values):
        return self.clip(input_ids=input_ids, attention_mask=attention_mask, pixel_values=pixel_values).logits_per_image


def clip():
    inputs = {"input_ids": tokens(37), "attention_mask": lengths_mask(), "pixel_values": reals(3, 16, 16)}
    return shaken(ImagesAndTexts()), inputs


def swin():
    config = transformers.SwinConfig(image_size=32, patch_size=4, embed_dim=12, depths=[2, 2], num_heads=[2, 2], window_size=4,
                                     num_labels=5, drop_path_rate=0.0, hidden_dropout_prob=0.0)
    return shaken(transformers.SwinForImageClassification(config)), {"pixel_values": reals(3, 32, 32)}


def segformer():
    config = transformers.SegformerConfig(num_encoder_blocks=2, depths=[1, 1], sr_ratios=[2, 1], hidden_sizes=[8, 16],
                                          patch_sizes=[7, 3], strides=[4, 2], num_attention_heads=[1, 2], mlp_ratios=[2, 2],
                                          decoder_hidden_size=16, num_labels=5, hidden_dropout_prob=0.0, drop_path_rate=0.0,
                                          classifier_dropout_prob=0.0)
    return shaken(transformers.SegformerForSemanticSegmentation(config)), {"pixel_values": reals(3, 32, 32)}


def convnext(dtype=torch.float32):
    config = transformers.ConvNextConfig(hidden_sizes=[8, 16], depths=[2, 2], num_stages=2, num_labels=5, drop_path_rate=0.0)
    model = transformers.ConvNextForImageClassification(config).to(dtype)
    return shaken(model), {"pixel_values": reals(3, 32, 32).to(dtype)}


def efficientnet():
    config = transformers.EfficientNetConfig(image_size=32, width_coefficient=0.25, depth_coefficient=0.3, hidden_dim=320,
                                             num_block_repeats=[1, 1], kernel_sizes=[3, 5], in_channels=[32, 16],
                                             out_channels=[16, 24], strides=[1, 2], expand_ratios=[1, 6],
                                             depthwise_padding=[], dropout_rate=0.0, drop_connect_rate=0.0, num_labels=5)
    return shaken(transformers.EfficientNetForImageClassification(config)), {"pixel_values": reals(3, 32, 32)}


def mobilenet_v2():
    config = transformers.MobileNetV2Config(image_size=32, depth_multiplier=0.35, num_labels=5, classifier_dropout_prob=0.0)
    return shaken(transformers.MobileNetV2ForImageClassification(config)), {"pixel_values": reals(3, 32, 32)}


class Block(nn.Module):
    """torchvision's basic block of a ResNet: additions and activations in place."""

    def __init__(self, inside, width, stride):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(inside, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width)
        self.conv2, self.bn2 = nn.Conv2d(width, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width)
        self.relu = nn.ReLU(inplace=True)
        self.down = None
        if stride != 1 or inside != width:
            self.down = nn.Sequential(nn.Conv2d(inside, width, 1, stride, bias=False), nn.BatchNorm2d(width))

    def forward(self, x):
        out = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        out += x if self.down is None else self.down(x)
        return self.relu(out)


class ResNet(nn.Sequential):
    def __init__(self, widths=(8, 16, 16, 24)):
        stem = [nn.Conv2d(3, widths[0], 7, 2, 3, bias=False), nn.BatchNorm2d(widths[0]), nn.ReLU(inplace=True),
                nn.MaxPool2d(3, 2, 1)]
        blocks, inside = [], widths[0]
        for i, width in enumerate(widths):
            blocks += [Block(inside, width, 1 + (i > 0)), Block(width, width, 1)]
            inside = width
        super().__init__(*stem, *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inside, 5))


def resnet():
    return shaken(ResNet()), {"input": reals(3, 32, 32)}


def resnet_channels_last():
    return shaken(ResNet().to(memory_format=torch.channels_last)), \
        {"input": reals(3, 32, 32).contiguous(memory_format=torch.channels_last)}


class DenseBlock(nn.Module):
    """Each layer sees the results of all before it."""

    def __init__(self, inside, growth, layers):
        super().__init__()
        self.layers = nn.ModuleList(nn.Sequential(nn.BatchNorm2d(inside + i * growth), nn.ReLU(inplace=True),
                                                  nn.Conv2d(inside + i * growth, growth, 3, padding=1, bias=False))
                                    for i in range(layers))

    def forward(self, x):
        seen = [x]
        for layer in self.layers:
            seen.append(layer(torch.cat(seen, 1)))
        return torch.cat(seen, 1)


def densenet():
    model = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1, bias=False), DenseBlock(8, 4, 4), nn.BatchNorm2d(24),
                          nn.ReLU(inplace=True), nn.Conv2d(24, 12, 1), nn.AvgPool2d(2), DenseBlock(12, 4, 4),
                          nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(28, 5))
    return shaken(model), {"input": reals(3, 16, 16)}


def unit(inside, outside, kernel):
    return nn.Sequential(nn.Conv2d(inside, outside, kernel, padding=kernel // 2, bias=False), nn.BatchNorm2d(outside, eps=1e-3),
                         nn.ReLU(inplace=True))


class Inception(nn.Module):
    """GoogLeNet's block: four ways side by side."""

    def __init__(self, inside):
        super().__init__()
        self.ways = nn.ModuleList([unit(inside, 4, 1), nn.Sequential(unit(inside, 4, 1), unit(4, 6, 3)),
                                   nn.Sequential(unit(inside, 2, 1), unit(2, 3, 5)),
                                   nn.Sequential(nn.MaxPool2d(3, 1, 1), unit(inside, 3, 1))])

    def forward(self, x):
        return torch.cat([way(x) for way in self.ways], 1)


def googlenet():
    model = nn.Sequential(unit(3, 8, 3), nn.MaxPool2d(2), Inception(8), Inception(16), nn.MaxPool2d(2), Inception(16),
                          nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 5))
    return shaken(model), {"input": reals(3, 32, 32)}


class Inverted(nn.Module):
    """MobileNetV3's block: depthwise convolution, squeeze and excitation, hard activations."""

    def __init__(self, width, inner):
        super().__init__()
        self.expand = nn.Sequential(nn.Conv2d(width, inner, 1, bias=False), nn.BatchNorm2d(inner), nn.Hardswish(inplace=True))
        self.depthwise = nn.Sequential(nn.Conv2d(inner, inner, 5, 1, 2, groups=inner, bias=False), nn.BatchNorm2d(inner))
        self.squeeze, self.excite = nn.Conv2d(inner, 8, 1), nn.Conv2d(8, inner, 1)
        self.project = nn.Sequential(nn.Conv2d(inner, width, 1, bias=False), nn.BatchNorm2d(width))

    def forward(self, x):
        y = self.depthwise(self.expand(x))
        scale = F.hardsigmoid(self.excite(F.relu(self.squeeze(F.adaptive_avg_pool2d(y, 1)))))
        return x + self.project(F.hardswish(scale * y))


def mobilenet_v3():
    model = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), Inverted(8, 16), Inverted(8, 24), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                          nn.Linear(8, 5))
    return shaken(model), {"input": reals(3, 32, 32)}


class Shuffle(nn.Module):
    """ShuffleNet's block: half of the channels, then mixed by a transposition."""

    def __init__(self, width):
        super().__init__()
        half = width // 2
        self.way = nn.Sequential(nn.Conv2d(half, half, 1, bias=False), nn.BatchNorm2d(half), nn.ReLU(inplace=True),
                                 nn.Conv2d(half, half, 3, 1, 1, groups=half, bias=False), nn.BatchNorm2d(half),
                                 nn.Conv2d(half, half, 1, bias=False), nn.BatchNorm2d(half), nn.ReLU(inplace=True))

    def forward(self, x):
        left, right = x.chunk(2, 1)
        y = torch.cat([left, self.way(right)], 1)
        n, c, h, w = y.shape
        return y.view(n, 2, c // 2, h, w).transpose(1, 2).contiguous().view(n, c, h, w)


def shufflenet():
    model = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), Shuffle(8), Shuffle(8), Shuffle(8), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                          nn.Linear(8, 5))
    return shaken(model), {"input": reals(3, 16, 16)}


class UNet(nn.Module):
    """Results of the way down are used again on the way up."""

    def __init__(self, widths=(6, 8, 12)):
        super().__init__()
        self.down = nn.ModuleList(self.pair(i, o) for i, o in zip((3, *widths), widths))
        self.rise = nn.ModuleList(nn.ConvTranspose2d(i, o, 2, 2) for i, o in zip(widths[::-1], widths[-2::-1]))
        self.up = nn.ModuleList(self.pair(2 * o, o) for o in widths[-2::-1])
        self.last = nn.Conv2d(widths[0], 2, 1)

    @staticmethod
    def pair(inside, outside):
        return nn.Sequential(unit(inside, outside, 3), unit(outside, outside, 3))

    def forward(self, x):
        kept = []
        for i, down in enumerate(self.down):
            x = down(F.max_pool2d(x, 2) if i else x)
            kept.append(x)
        kept.pop()
        for rise, up in zip(self.rise, self.up):
            x = up(torch.cat([kept.pop(), rise(x)], 1))
        return self.last(x)


def unet():
    return shaken(UNet()), {"x": reals(3, 16, 16)}


CASES = {
    "vit": vit,
    "clip": clip,
    "swin": swin,
    "segformer": segformer,
    "convnext": convnext,
    "convnext-bf16": lambda: convnext(torch.bfloat16),
    "efficientnet": efficientnet,
    "mobilenet-v2": mobilenet_v2,
    "mobilenet-v3": mobilenet_v3,
    "resnet": resnet,
    "resnet-channels-last": resnet_channels_last,
    "densenet": densenet,
    "googlenet": googlenet,
    "shufflenet": shufflenet,
    "unet": unet,
}
