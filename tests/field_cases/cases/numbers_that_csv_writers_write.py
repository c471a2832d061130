"""Numbers as spreadsheets write them

Reports: none known.
Right: +3 and ' 5 ' are numbers as pandas has them, or refused; 0x10, 1,5 and nan are refused with line, column and
value.
Passes: exit status 2 with line, column and value (odd.csv may be read).
"""
import pathlib

from inputs import MODEL
from outputs import data

WORKLOAD = """
[data.d]
kind = "csv"
target = "y"
train = "odd.csv"
""" + MODEL.replace('from = "model", context = 32', 'family = "mlp", width = 8')
ODD = "a,b,y\n1,2,0\n+3,4,1\n 5 ,6,0\n1e2,7,1\n"
CASES = {  # the file, other settings, what the message has
    "odd": (ODD, [], [r"odd\.csv.*\b3\b", r"\+3", r"\ba\b"]),
    "hex": (ODD + "0x10,8,0\n", [], [r"hex\.csv.*\b[36]\b", r"\+3|0x10", r"\ba\b"]),
    "nan": ("a,b,y\n1,2,0\nnan,3,1\n", [], [r"nan\.csv.*\b3\b", r"\"nan\"|'nan'", r"\ba\b"]),
    "comma": ("a;b;y\n1,5;2;0\n2,5;3;1\n", ['data.d.separator=";"'], [r"comma\.csv.*\b2\b", "1,5", r"\ba\b"]),
    "target": ("a,b,y\n1,2,0.5\n2,3,nan\n", ["data.d.regression=true"], [r"target\.csv.*\b3\b", r"\bnan\b", r"\by\b"]),
}


def case(hydra):
    for name, (content, settings, words) in CASES.items():
        pathlib.Path(f"{name}.csv").write_text(content)
        ran = hydra.plan(data(f"{name}.csv")[0], *settings)
        yield (ran.refused(*words) or name == "odd" and ran.status == 0, f"{name}: {ran.brief()}",
               "a refusal that names line, column and value")
