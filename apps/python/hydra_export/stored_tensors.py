"""The tensors of a module: which are one, under which names, and which may not be exported."""
import torch

from .graph import Stored
from .refused import Refused
from .scalar_types import NAMES, TRAINED


def grouped(pairs, saved):
    """Stored of each tensor, by all of its names. `saved` are the names in the module's state_dict()."""
    by_identity = {}
    for name, tensor in pairs:
        by_identity.setdefault(id(tensor), Stored(name, tensor, [])).names.append(name)
    by_name = {}
    for stored in by_identity.values():
        by_name |= {name: stored for name in stored.names}
        stored.names = [name for name in stored.names if name in saved]
    return by_name


def parameters_of(module, saved):
    return grouped(module.named_parameters(remove_duplicate=False), saved)


def buffers_of(module, saved):
    return grouped(module.named_buffers(remove_duplicate=False), saved)


def saved_names(module):
    """The names of the module's state_dict(), which is not asked for it: that may copy."""
    temporary = {f"{prefix}.{name}" if prefix else name for prefix, part in module.named_modules(remove_duplicate=False)
                 for name in part._non_persistent_buffers_set}
    names = [name for name, _ in module.named_parameters(remove_duplicate=False)]
    names += [name for name, _ in module.named_buffers(remove_duplicate=False)]
    return [name for name in names if name not in temporary]


def memory(tensor):
    """What tensors that share memory have in common; None for those without."""
    if type(tensor) not in (torch.Tensor, torch.nn.Parameter, torch.nn.Buffer) or tensor.is_meta or not tensor.numel():
        return None
    return tensor.untyped_storage().data_ptr()


def is_dense(shape, strides):
    """Whether the elements fill their memory without gap or overlap, in any order of the dimensions."""
    reached = 1
    for stride, size in sorted((stride, size) for stride, size in zip(strides, shape) if size != 1):
        if stride != reached:
            return False
        reached *= size
    return True


def check_parameters(parameters):
    """Throws Refused for parameters that Hydra cannot hold."""
    seen, kinds = {}, {}
    for name, stored in parameters.items():
        if name != stored.name:
            continue
        tensor = stored.tensor
        kinds.setdefault(NAMES.get(tensor.dtype, str(tensor.dtype)), name)
        other = seen.setdefault(memory(tensor), name)
        if memory(tensor) is not None and other != name:
            raise Refused(f'the parameters "{other}" and "{name}" share memory but are two objects, which would be trained '
                          "apart: assign the same torch.nn.Parameter to both")
        if not is_dense(tensor.shape, tensor.stride()):
            raise Refused(f'the elements of the parameter "{name}" do not fill their memory (strides {tensor.stride()}): '
                          "make it contiguous()")
    if len(kinds) > 1:
        said = ", ".join(f'"{name}" is {kind}' for kind, name in kinds.items())
        raise Refused(f"the parameters have several types ({said}): Hydra computes in one; convert the module with "
                      ".to(torch.float32) or .to(torch.bfloat16)")
    if kinds and next(iter(kinds)) not in TRAINED:
        raise Refused(f"the parameters are {next(iter(kinds))}: Hydra trains in f32 or bf16; convert the module with "
                      ".to(torch.float32) or .to(torch.bfloat16)")


def check_constants(constants, parameters):
    """A parameter that forward() reaches otherwise than through its module becomes a constant, silently not trained."""
    owners = {memory(stored.tensor): name for name, stored in parameters.items()}
    for tensor in constants:
        if memory(tensor) is not None and memory(tensor) in owners:
            raise Refused(f'the parameter "{owners[memory(tensor)]}" is used as a constant (by a closure, a hook or a '
                          "global), and would not be trained: reach it through self")
