"""python -m hydra_export MODULE:FACTORY --out DIR"""
import argparse
import contextlib
import sys

DESCRIPTION = """Exports a PyTorch module as a chain of layers for hydra.

FACTORY is a function without arguments, or with those of --args, in the Python module MODULE (a dotted name or a .py
file). It returns (module, inputs), where inputs are examples by the names of forward()'s arguments: {"ids": tensor of
some samples}; or hydra_export.Export(module, inputs, output=..., loss=...), which also says which of several results is
trained on, and whether that is a loss."""


def parsed():
    arguments = argparse.ArgumentParser("python -m hydra_export", description=DESCRIPTION,
                                        formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("factory", metavar="MODULE:FACTORY")
    arguments.add_argument("--out", required=True, metavar="DIR", help="folder to write, which must not exist")
    arguments.add_argument("--inputs", nargs="+", default=[], metavar="NAME=TYPE[SIZE,...]<BOUND",
                           help="what one sample of each input looks like, in place of the factory's examples: "
                                "pixels=f32[3,224,224] 'ids=i64[128]<50257'")
    arguments.add_argument("--weights", metavar="HF_FOLDER",
                           help="folder of a Hugging Face model whose weights replace the module's, which is made without "
                                "initial values and need not fit into memory")
    arguments.add_argument("--args", nargs="+", default=[], metavar="KEY=VALUE",
                           help="arguments of the factory; values are JSON")
    arguments.add_argument("--no-check", action="store_true", help="do not compare what is written with the module")
    return arguments.parse_args()


def run(options):
    from .exporting import export
    from .factory import find_factory, request_of
    from .no_initial_values import no_initial_values
    factory = find_factory(options.factory)
    with no_initial_values() if options.weights else contextlib.nullcontext():
        request = request_of(factory, options.args, options.inputs)
    export(request, options.out, weights=options.weights, checked=not options.no_check)
    print(f"written to {options.out}")


def main():
    options = parsed()
    try:
        import safetensors  # pylint: disable=unused-import
        import torch
    except ImportError as missing:
        print(f"hydra_export: {missing}; install it: python3 -m pip install torch==2.11.0 safetensors", file=sys.stderr)
        return 2
    from .refused import Refused
    torch.manual_seed(0)  # a factory that makes its own weights makes the same each time
    try:
        run(options)
    except Refused as refused:
        print(f"hydra_export: {refused}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
