"""What an export says of itself."""
from .boundary import bytes_of_boundary
from .sizes import evaluated


def count(number, noun):
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def size(number):
    for unit in ("bytes", "KiB", "MiB"):
        if number < 1024:
            return f"{number:.4g} {unit}"
        number /= 1024
    return f"{number:.4g} GiB"


def elements(parameter):
    total = 1
    for dimension in parameter["shape"]:
        total *= evaluated(dimension, 1)
    return total


def layer_lines(document, samples):
    for index, layer in enumerate(document["layers"]):
        own = sum(elements(p) for p in layer["parameters"] if "tied_to" not in p)
        crossing = layer["outputs"]
        per_sample = bytes_of_boundary(crossing, samples) / samples
        yield (f"  {index:3}  {layer['name'] or '-':40.40}  {own:>13,} values  {len(layer['calls']):4} calls  out: "
               f"{len(crossing)} of {size(per_sample)} per sample")


def runs_again(document):
    """Calls that are in several layers: masks and the like."""
    made = [name for layer in document["layers"] for call in layer["calls"] for name in call["out"] if name]
    return len(made) - len(set(made))


def report_lines(document, samples):
    """Lines on layers, parameters and boundaries; bytes per sample are those of a batch of so many samples."""
    layers = document["layers"]
    parameters = [p for layer in layers for p in layer["parameters"] if "tied_to" not in p]
    trained = sum(elements(p) for p in parameters if p["trained"])
    yield from layer_lines(document, samples)
    yield (f"{count(len(layers), 'layer')} of {count(len({layer['signature'] for layer in layers}), 'signature')}, "
           f"{count(sum(len(layer['calls']) for layer in layers), 'call')}; "
           f"{sum(map(elements, parameters)):,} values, {trained:,} trained, {document['precision']}")
    ties = [p["tied_to"] for layer in layers for p in layer["parameters"] if "tied_to" in p]
    if ties:
        yield f"used in several layers: {', '.join(dict.fromkeys(ties))}"
    again = runs_again(document)
    if again:
        yield f"{count(again, 'value')} that depend on inputs or constants alone are made again in further layers"
