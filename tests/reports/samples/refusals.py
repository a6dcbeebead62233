"""Command lines and files of sweeps that are refused, and each with which sentence."""

from __future__ import annotations

import shlex

_MODEL = "--activation tanh --target sin --alpha 1.5 --beta 1 --ridge 0.1"
_SPIKED = f"{_MODEL} --spike 1 --bulk 1 --alignment 0.8"
_STEPPED = f"{_MODEL} --alpha0 2 --eta 3"
# What an option of `giantsteps solve` is given in place of what it accepts; the later of two counts.
_VALUES = (
    ("alpha", "0"), ("alpha", "many"), ("alpha", "1:2"), ("alpha", "1:2:0"), ("alpha", "1:2:2.5"),
    ("alpha", "1:2:999999999"), ("alpha", "1,,2"), ("spike", "log:-1:1:5"), ("spike", "NaN"), ("ridge", "-0.1"),
    ("alignment", "1.5"), ("alignment", "0:2:5"), ("bulk", "0"), ("noise", "-1"), ("alignment", "0.6/x"),
    ("spike", "1/2/3/4"), ("loss", "cubic"), ("loss", "huber:0"), ("bulk-model", "cubic"), ("rows", "odd"),
    ("readout", "1:0.5"), ("readout", "1:0.5,-1:0.6"), ("readout", "1:0"), ("readout", "1"), ("readout", "normal:0"),
    ("readout", "1:.5:-1,1:.5"), ("bias", "0.3"), ("bias", "0.3:0.5"), ("bias", "0.3:2"), ("width", "0"),
    ("digits", "0"), ("digits", "x"), ("time-limit", "-1"), ("activation", "tanh(q)"), ("target", "exp(z**2)"),
    ("target", "1/z"), ("activation", ""), ("alignment", "-1.5"), ("ridge", "nan"), ("spike", "inf"),
    ("spike", "1e999"), ("beta", "-1"), ("alpha", ""), ("alpha", "1_000"), ("alpha", "__import__('os')"),
    ("alpha", "1,nan"), ("alpha", "nan:1:3"), ("alpha", "1e-99999999999"), ("alignment", "1.0000000001"),
    ("width", "1e3"), ("width", "many"), ("readout", ""), ("readout", "1:0.5,x:0.5"), ("readout", "1:nan,1:0.5"),
    ("readout", "1:-1,1:2"), ("readout", "1:0.1:1:1:1,1:0.9"), ("readout", "uniformly"), ("readout", "normal:1e3"),
    ("loss", "huber"), ("loss", "huber:-1"), ("digits", "5"), ("target", "2*ReLU(z)"), ("target", "tanh(x)"),
    ("ridge", "1e155"), ("ridge", "1e-200"), ("alpha", "1e300"), ("beta", "1e200"), ("bulk", "1e-300"),
    ("spike", "1e60"), ("alignment", "0.5/0.5"), ("spike", "1/1"),
)  # fmt: skip
# What is no expression of z that can be averaged, and what tries to be a program.
_FORMULAS = (
    "frobnicate(z)", "z.real", "tan(z)", "log(z)", "   ", "nan", "tanh(z", "lambda z: z", "z**9999999", "9**9**9**9",
    "tahn", "(" * 10_000 + "z" + ")" * 10_000, '__import__("os").system("touch planted")',
)  # fmt: skip
# What is longer than a sentence shows, and where it stands.
LONG = "".join(f"{k}-odd-words-" for k in range(12))
_LENGTHY = (
    f"solve {_SPIKED} --alpha", f"solve {_SPIKED} --loss", f"solve {_SPIKED} --rows", f"solve {_SPIKED} --readout",
    f"solve {_SPIKED} --activation", f"solve {_SPIKED} --time-limit", f"solve {_SPIKED} --digits",
    f"simulate {_SPIKED} --kind", f"simulate {_SPIKED} --inputs", f"simulate {_SPIKED} --directions",
    f"compare {_SPIKED} --dimensions", "claims", "claims --leaves", "errata", "verify", "verify --profile",
    "verify --properties", "--completion", "activation tanh --target", "solve --bulk-model", "sweep",
    "activation tanh --spike", "activation tanh --plot", f"solve {_SPIKED} --", "",
)  # fmt: skip
# What goes with a density of readouts, a certificate, digits and the equivalent map, and what is refused beside them.
_BESIDE = (
    "--spike 1/0.5 --alignment 0.6/0.5", "--bias 0.3:0.5,-0.3:0.5", "--bias learned", "--rows gaussian",
    "--readout normal:1", "--readout 1:.5,-1:.5", "--ridge 0.1,1", "--spike -1",
)  # fmt: skip
_ASKED = (
    f"solve {_SPIKED} --readout uniform:1", f"solve {_SPIKED} --certify", f"solve {_SPIKED} --digits 20",
    f"simulate {_SPIKED} --kind equivalent --dimension 10 --seeds 1",
)  # fmt: skip
# What of a gradient step and of networks is refused: tanh that learns tanh after a long step.
_TAUGHT = "--activation tanh --target tanh --alpha 1.5 --beta 1 --ridge 0.01 --alpha0 10 --eta 10 --kind network"
_STEPS = (
    "alpha0 -1", "eta nan", "bulk 2", "activation sign", "alpha0 1e-300", "alpha0 1e300 --eta 1e200", "eta 1e50",
    "readout 1:0.5:1.2,-1:0.5:1.3", "readout normal:0.8",
)  # fmt: skip
_NETWORKS = (
    "readout 1e-200:0.5,-1e-200:0.5", "readout 1e40:0.5,-1:0.5", "bias 1e300:1", "eta 1e200", "alpha0 1e60",
    "alpha0 1e9", "eta 1e10 --readout 1e10:0.5,-1:0.5", "bias learned --ridge 0", "readout 0:1",
    "bias learned --activation sign(z)*sqrt(Abs(z))", "readout 1:0.5:1:0.3,-0.7:0.5:1:-0.3", "rows gaussian "
    "--initial-overlap 0.1", "bias learned --kind equivalent", "kind srf --initial-overlap 0.1", "alpha 0.001",
)  # fmt: skip
# Options that are misspelt or called something else elsewhere, without their value or with one too many.
_MISSPELT = (
    "aplha 2", "learning-rate 3", "lambda 3", "n0 300", "act tanh", "zz", "inputs uniform", "ridge", "ridge --json",
    "json=yes", "frobnicate --debug", "steps",
)  # fmt: skip
_DIRECTIONS = (
    "--alignment 0.6/0.9 --spike 1/1", "--alignment 0.6/0.5 --spike 1/", "--alignment 0.6/0.5/0.1/0.1 --spike 1/1",
    "--alignment 0.6/0.5 --spike 1/1 --readout 1/2:1", "--alignment 0.6/0.5,0.7/0.4 --spike 1/1",
    "--alignment 0.6/0.5 --readout 1/1:1 --rows gaussian", "--alignment 0.9/0.9 --spike 1/1",
)  # fmt: skip
_NAMED = (
    "report", "verify", "claims", "errata", "activation", "solve", "simulate", "compare", "bounds", "spectrum", "sweep",
)  # fmt: skip
_LINES = (
    *(f"solve {_SPIKED} --{name} {shlex.quote(text)}" for name, text in _VALUES),
    *(f"{start} {shlex.quote(text)}" for start in (f"solve {_SPIKED} --target", "activation") for text in _FORMULAS),
    *(f"solve {_STEPPED} --{more}" for more in _STEPS),
    *(f"solve {_SPIKED} --{more}" for more in _MISSPELT),
    *(f"solve {_SPIKED} {more}" for more in _DIRECTIONS),
    *(f"simulate {_TAUGHT} --dimension 40 --seeds 2 --{more}" for more in _NETWORKS),
    "",
    "frobnicate",
    "--frobnicate",
    "--json solve",
    "--completion csh",
    "solve",
    f"solve {_MODEL}",
    f"solve {_SPIKED} surplus",
    "-x",
    "slove",
    "bound",
    "solve --activation",
    "solve --target --beta 1",
    "solve --ridge",
    "simulate --seeds --seed=3",
    "activation tanh --spike --bulk 2",
    "activation 'tanh(z)' +1",
    "claims a b",
    "errata a b",
    "errata ' '",
    "claims ''",
    "claims esult-3-1",
    "claims resutl-3-1.spilt",
    "claims 'spike norm exact'",
    "verify result-99",
    "verify --seed ' 3'",
    f"bounds {_STEPPED} --optimize-eta",
    f"bounds {_STEPPED} --opt",
    f"bounds {_STEPPED} --loss hinge --optimise-eta",
    f"bounds {_SPIKED} --noise 0.3 --loss logistic",
    f"bounds {_SPIKED} --bulk 1e300",
    f"simulate {_SPIKED} --dimension 1e3",
    f"simulate {_SPIKED} --alpha 0.01 --dimension 10",
    f"simulate {_SPIKED} --ridge 0 --loss hinge",
    f"compare {_SPIKED} --dimensions ''",
    f"compare {_SPIKED} --activation he2 --readout normal --dimensions 60,120 --seeds 2",
    f"compare {_SPIKED} --kind cubic",
    f"spectrum {_SPIKED} --simulate 1000000",
    f"spectrum {_SPIKED} --kind equivalent --simulate 60",
    f"spectrum {_SPIKED} --spike 1/1 --alignment 0.5/0.5",
    f"spectrum {_SPIKED} --readout uniform:2",
    f"spectrum {_STEPPED} --readout 1:0.5,-1:0.5",
    "spectrum --activation tanh --alpha 1.5 --beta 1 --alpha0 1 --eta 5",
    f"solve {_SPIKED} --certify --alpha -1:2",
    f"solve {_SPIKED} --certify --alpha 1:2 --ridge 0.1,0.2",
    f"solve {_SPIKED} --certify --alpha 1:2 --loss logistic",
    f"solve {_SPIKED} --certify --alpha 1:2 --time-limit 0",
    "sweep grid.toml --out .",
    "sweep grid.toml --out grid.toml",
    f"solve {_SPIKED} --kind srf",
    f"solve {_SPIKED} --sprike 1",
    f"solve {_SPIKED} --alpha0 2",
    f"solve {_MODEL} --alpha0 2",
    f"solve {_SPIKED} --bulk-model network",
    f'solve {_SPIKED} --readout "1:.5::.3,1:.5::-.3" --bias 0.3:1',
    f'solve {_SPIKED} --readout "1/1:1" --spike 1/2',
    f"solve {_SPIKED} --readout normal:1 --loss hinge",
    f"solve {_SPIKED} --readout normal:1 --certify",
    f"solve {_SPIKED} --certify --loss hinge",
    f"solve {_SPIKED} --digits 30 --bias learned",
    f"solve {_SPIKED} --certify --alpha 1,2",
    f"solve {_SPIKED} --certify --alpha 2:1",
    f"solve {_SPIKED} --certify --alpha 1:2 --beta 1:2",
    f"solve {_SPIKED} --certify --alpha 1:2 --digits 30",
    f"simulate {_SPIKED} --dimension 1.5",
    f"simulate {_SPIKED} --seeds 0",
    f"simulate {_SPIKED} --seed -1",
    f"simulate {_SPIKED} --kind cubic",
    f"simulate {_SPIKED} --kind network",
    f"simulate {_SPIKED} --inputs cauchy",
    f"simulate {_SPIKED} --directions odd",
    f"simulate {_SPIKED} --kind equivalent --inputs uniform",
    f"simulate {_SPIKED} --inputs uniform --readout normal:1",
    f"simulate {_SPIKED} --initial-overlap 0.1",
    f"simulate {_SPIKED} --steps 2",
    f"simulate {_STEPPED} --kind network --initial-overlap 1",
    f"simulate {_STEPPED} --kind network --steps 0",
    f"simulate {_STEPPED} --kind network --readout normal:1",
    f"compare {_SPIKED} --dimensions 400,x",
    f"compare {_SPIKED} --dimensions 400,400",
    f"bounds {_SPIKED} --optimise-eta",
    f"bounds {_STEPPED} --optimise-spike",
    f"bounds {_SPIKED} --optimise-spike --loss hinge",
    f"bounds {_SPIKED} --optimise-spike --bias learned",
    f"bounds {_SPIKED} --bias learned --loss hinge",
    f"bounds {_SPIKED} --readout normal:1",
    "spectrum --activation tanh",
    "spectrum --activation tanh --alpha 1,2 --beta 1 --spike 1 --bulk 1",
    "spectrum --activation tanh --alpha 1 --beta 1 --spike 1 --bulk 1 --plot a.txt",
    "spectrum --activation tanh --alpha 1 --beta 1 --spike 1 --bulk 1 --plot nowhere/a.svg",
    "spectrum --activation tanh --alpha 1 --beta 1 --spike 1 --bulk 1 --kind network --simulate 60",
    "activation",
    "activation tanh --digits 0",
    "activation tanh --orders 999",
    "activation tanh --spike 1,2",
    "activation tanh --bulk 0",
    "activation tanh --time-limit 0",
    "activation tanh --plot tanh.txt",
    "activation tanh --plot nowhere/tanh.svg",
    "activation tanh --latex --json",
    "activation tanh --target frob",
    "claims --leaves no-such",
    "verify --profile slow",
    "verify --seed x",
    "verify --properties no-such",
    "verify --properties --export rocq proofs",
    "verify --seed 7 --export rocq proofs",
    "report --profile slow",
    "report --check --out elsewhere",
    "report --check --pdf",
    "report --check --fresh",
    "report --out grid.toml",
    "errata no-such",
    "sweep",
    "sweep grid.toml",
    "sweep grid.toml --out results --workers 0",
    "sweep grid.toml --out results --workers 2 --dask here:1",
    "sweep grid.toml --out results --plot diagram.txt",
    "sweep grid.toml --out results --plot nowhere/diagram.svg",
    "sweep nowhere.toml --out results",
    *(f"{line} {LONG}" for line in _LENGTHY),
    *(f"{line} {option}" for line in _ASKED for option in _BESIDE),
    *(f"{line} --loss hinge" for line in _ASKED[:3]),
    *(f"{name} --frobnicate" for name in _NAMED),
    f"solve {_SPIKED} --readout normal:{LONG}",
    f"solve {_SPIKED} --readout 1:.3,-1:.123456789",
    f"compare {_SPIKED} --dimensions 400,1",
    f"compare {_SPIKED} --dimensions 50,999999999",
    *(f"claims {near}" for near in ("slides.kernl", "reslt-3-1", "test-error", "'equation (999)'", "eq.999", "999")),
    "errata slides.stp", "verify --properties limts",
    "report --out grid.toml/inner",
    "solve --activation tanh --target sin --alpha log:0.1:10:1000000000000 --beta 1 --ridge 0.1 --spike 1 --bulk 1 "
    "--alignment 0.8",
    f"sweep grid.toml --out results --plot {LONG}.svg",
    "spectrum --activation tanh --alpha 2 --beta 1 --spike 1 --bulk 1 --plot taken.svg",
    "sweep grid.toml --out results --plot taken.svg",
)  # fmt: skip
LINES = tuple(tuple(shlex.split(line)) for line in _LINES)

_GIVEN = 'activation = "tanh"\ntarget = "sin"\nalpha = 1\nbeta = 1\nridge = 0.1\nspike = 1\nbulk = 1\nalignment = 1\n'
# Files of sweeps: what each says in place of, or beside, what can be swept.
FILES = {
    "not TOML": b"alpha =",
    "not text": b"\xff",
    "a number of thousands of digits": b"alpha = " + b"7" * 6000,
    "too large": b"#" * 2_000_000,
    "nested too deeply": b"alpha = " + b"[" * 5000,
    **{
        name: text.encode()
        for name, text in {
            "no activation": _GIVEN.replace('activation = "tanh"', ""),
            "a number for a text": _GIVEN.replace('"sin"', "2"),
            "no expression": _GIVEN.replace('"sin"', '"frob(z)"'),
            "no ridge": _GIVEN.replace("ridge = 0.1", ""),
            "an unknown key": _GIVEN + "frobnicate = 1\n",
            "an empty list": _GIVEN.replace("alpha = 1", "alpha = []"),
            "a list of texts": _GIVEN.replace("alpha = 1", 'alpha = ["1:2:3"]'),
            "a truth for a number": _GIVEN.replace("alpha = 1", "alpha = true"),
            "a number out of range": _GIVEN.replace("alpha = 1", "alpha = -1"),
            "a range out of range": _GIVEN.replace("alpha = 1", 'alpha = "0:2:3"'),
            "a learned bias": _GIVEN + 'bias = "learned"\n',
            "a loss": _GIVEN + 'loss = "huber:-1"\n',
            "a readout": _GIVEN + 'readout = "1:0.5"\n',
            "a kind": _GIVEN + 'kind = "practice"\n',
            "a mode": _GIVEN + 'mode = "diagonal"\n',
            "a width": _GIVEN + "width = 0\n",
            "rows": _GIVEN + 'rows = "round"\n',
            "both spike and step": _GIVEN + "alpha0 = 1\n",
            "no table": "simulation = 3\n" + _GIVEN,
            "no seeds": _GIVEN + 'kind = "simulation"\n[simulation]\ndimension = 100\n',
            "half a dimension": _GIVEN + 'kind = "simulation"\n[simulation]\ndimension = 1.5\nseeds = 8\n',
            "an unknown key of a simulation": _GIVEN + 'kind = "simulation"\n[simulation]\nsize = 100\n',
            "no simulation": _GIVEN + 'kind = "simulation"\n',
        }.items()
    },
}
