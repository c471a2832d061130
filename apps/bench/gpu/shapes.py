"""The measured models, their FLOP per token, and the peak rates of GPUs. Standard library only.

Llama-like: RMS norms, rotary positions, as many key-value heads as heads, gated MLP, an output matrix of its own.
"""
import dataclasses
import re


@dataclasses.dataclass(frozen=True)
class Shape:
    name: str
    layers: int
    width: int
    heads: int
    hidden: int
    context: int = 1024
    vocabulary: int = 32000

    @property
    def parameters(self):
        block = 4 * self.width**2 + 3 * self.width * self.hidden + 2 * self.width
        return self.layers * block + 2 * self.vocabulary * self.width + self.width

    @property
    def flop_per_token(self):
        """6N, forward and backward once. N leaves out the input embedding, which is looked up and not multiplied. What
        attention and recomputation cost is not counted, so the share of peak is a lower bound of what the GPU did."""
        return 6 * (self.parameters - self.vocabulary * self.width)

    def keys(self):
        """Hydra's [[model]] chain."""
        return (f'family = "llama", layers = {self.layers}, width = {self.width}, heads = {self.heads}, hidden = {self.hidden}, '
                f"context = {self.context}")


SHAPES = {s.name: s for s in (
    Shape("0.5B", layers=22, width=1280, heads=10, hidden=3456),
    Shape("1.5B", layers=28, width=2048, heads=16, hidden=5504),
    Shape("3B", layers=36, width=2560, heads=20, hidden=6912),
    Shape("tiny", layers=6, width=64, heads=2, hidden=192, context=32, vocabulary=64),
)}

# Dense bf16 with fp32 accumulation, TFLOP/s, by the vendor's datasheets and whitepapers; of T4 and V100, which have no bf16, fp16.
PEAKS = {"B200": 2250.0, "B100": 1750.0, "GH200": 989.4, "H200": 989.4, "H200 NVL": 835.5, "H100": 989.4, "H100 PCIe": 756.0,
         "H100 NVL": 835.5, "A100": 312.0, "A100 PCIe": 312.0, "A40": 149.7, "A10": 125.0, "A10G": 70.0, "L40S": 362.05,
         "L40": 181.05, "L4": 121.0, "T4": 65.0, "V100": 125.0, "V100 PCIe": 112.0, "RTX 6000 Ada": 364.2, "RTX A6000": 154.8,
         "RTX 4090": 165.2, "RTX 3090": 71.0}
NO_MODEL = re.compile(r"NVIDIA|GeForce|Tesla|Generation|SXM\d*|HBM\w*|\d+GB?", re.IGNORECASE)  # words about vendor, socket, memory


def model_of(gpu):
    """"H100 PCIe" of "NVIDIA H100 PCIe", "A100" of "NVIDIA A100-SXM4-80GB"."""
    return " ".join(word for word in re.split(r"[ -]+", gpu) if not NO_MODEL.fullmatch(word))


def peak_of(gpu):
    """In FLOP/s; None of a GPU whose whole model name is not in the table (run --peak-tflops says it then)."""
    return {name.lower(): tera * 1e12 for name, tera in PEAKS.items()}.get(model_of(gpu).lower())
