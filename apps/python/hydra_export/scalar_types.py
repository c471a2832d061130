"""Types of tensors and their short names in graph.json."""
import torch

NAMES = {torch.float32: "f32", torch.float64: "f64", torch.bfloat16: "bf16", torch.float16: "f16", torch.int64: "i64",
         torch.int32: "i32", torch.int16: "i16", torch.int8: "i8", torch.uint8: "u8", torch.bool: "bool"}
TYPES = {name: dtype for dtype, name in NAMES.items()}
BYTES = {name: dtype.itemsize for name, dtype in TYPES.items()}
REAL = {"f32", "f64", "bf16", "f16"}
TRAINED = {"f32", "bf16"}  # what Hydra's chains compute in, and what a gradient at a boundary may be
