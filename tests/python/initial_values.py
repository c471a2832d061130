"""Initial values of models that are compared."""
import torch


def moved(module, seed):
    """Moves all parameters and averages away from zeros and ones, which hide mistakes."""
    drawn = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for p in module.parameters():
            p.add_((0.1 * torch.randn(p.shape, generator=drawn)).to(p.dtype))
        for name, b in module.named_buffers():
            if name.endswith("running_mean"):
                b.add_(0.1 * torch.randn(b.shape, generator=drawn))
            if name.endswith("running_var"):
                b.mul_(0.5 + torch.rand(b.shape, generator=drawn))
    return module
