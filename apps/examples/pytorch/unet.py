"""A U-Net (Ronneberger, Fischer and Brox 2015) that says of each pixel what it belongs to, and images for it.

    python3 -m hydra_export unet.py:build --out unet
    python3 unet.py            # writes images-train.safetensors and images-validation.safetensors
"""
import torch
from safetensors.torch import save_file
from torch import nn
from torch.nn import functional as F

SIZE, CLASSES = 64, 3  # nothing, a disc, a square


def pair(inside, outside):
    layers = []
    for i in (inside, outside):
        layers += [nn.Conv2d(i, outside, 3, padding=1, bias=False), nn.BatchNorm2d(outside), nn.ReLU(inplace=True)]
    return nn.Sequential(*layers)


class UNet(nn.Module):
    """Results of the way down are used again on the way up."""

    def __init__(self, channels, classes, widths):
        super().__init__()
        self.down = nn.ModuleList(pair(i, o) for i, o in zip((channels, *widths), widths))
        self.rise = nn.ModuleList(nn.ConvTranspose2d(i, o, 2, 2) for i, o in zip(widths[::-1], widths[-2::-1]))
        self.up = nn.ModuleList(pair(2 * o, o) for o in widths[-2::-1])
        self.last = nn.Conv2d(widths[0], classes, 1)

    def forward(self, image):
        kept, x = [], image
        for i, down in enumerate(self.down):
            x = down(F.max_pool2d(x, 2) if i else x)
            kept.append(x)
        kept.pop()
        for rise, up in zip(self.rise, self.up):
            x = up(torch.cat([kept.pop(), rise(x)], 1))
        return self.last(x).permute(0, 2, 3, 1)  # Hydra's losses have the classes last


def build(width=16):
    return UNet(1, CLASSES, (width, 2 * width, 4 * width)), {"image": torch.zeros(2, 1, SIZE, SIZE)}


def samples(count, seed):
    """Each a disc and a square in noise: image f32 [1, SIZE, SIZE], target i64 [SIZE, SIZE]."""
    drawn = torch.Generator().manual_seed(seed)
    y, x = torch.meshgrid(torch.arange(SIZE), torch.arange(SIZE), indexing="ij")
    images, targets = 0.3 * torch.randn(count, 1, SIZE, SIZE, generator=drawn), torch.zeros(count, SIZE, SIZE, dtype=torch.int64)
    for i in range(count):
        for kind in (1, 2):
            radius = torch.randint(6, 14, (), generator=drawn)
            b, a = (torch.randint(int(radius), SIZE - int(radius), (), generator=drawn) for _ in range(2))
            inside = (y - b) ** 2 + (x - a) ** 2 < radius**2 if kind == 1 else ((y - b).abs() < radius) & ((x - a).abs() < radius)
            targets[i][inside] = kind
            images[i, 0][inside] += 1
    return {"image": images, "target": targets}


if __name__ == "__main__":
    save_file(samples(256, 1), "images-train.safetensors")
    save_file(samples(64, 2), "images-validation.safetensors")
