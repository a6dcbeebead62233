"""How long the certified constants of an activation take, and its whole page.

    python -m benchmarks.speed.activation

prints the best of several runs: h1, h2 and E[(sigma' - h1)^2] as balls at 128 and 1000 bits after import, and
`giantsteps activation "tanh(z)"` from start to end.
"""

from __future__ import annotations

import math
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

# (what, limit in seconds): what a user may rely on.
CONSTANTS_128, CONSTANTS_1000, PAGE = 0.015, 0.4, 3.0


def best_of(work: Callable[[], object], runs: int) -> float:
    """The shortest of several runs, in seconds: what the machine does when nothing else interrupts it."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def constants(bits: int) -> Callable[[], object]:
    """A run that certifies h1, h2 and E[(sigma' - h1)^2] of tanh, the analysis of the expression included."""
    from giantsteps.derivations.activations.activation import Activation
    from giantsteps.derivations.expressions.parser import parse
    from giantsteps.numerics.balls.coefficients import hermite_balls

    def work() -> object:
        return hermite_balls(Activation(parse("tanh(z)")), bits=bits)

    return work


def page() -> object:
    """`giantsteps activation "tanh(z)"` in a process of its own."""
    command = [sys.executable, "-m", "giantsteps", "activation", "tanh(z)"]
    return subprocess.run(command, check=True, capture_output=True)


def measure() -> dict[str, dict[str, Any]]:
    """Seconds, limits, and the accuracy in bits of the least accurate of the three constants."""
    results: dict[str, dict[str, Any]] = {}
    for name, bits, limit, runs in (
        ("constants of tanh, 128 bits", 128, CONSTANTS_128, 20),
        ("constants of tanh, 1000 bits", 1000, CONSTANTS_1000, 3),
    ):
        work = constants(bits)
        balls: Any = work()
        three = (balls.h1, balls.h2, balls.h1_check)
        accuracy = min(-math.log2(ball.radius) if ball.radius > 0.0 else math.inf for ball in three)
        results[name] = {"seconds": best_of(work, runs), "limit": limit, "accurate_bits": accuracy}
    results['giantsteps activation "tanh(z)"'] = {"seconds": best_of(page, 3), "limit": PAGE}
    return results


def main() -> int:
    """Print the table; 1 if a limit is exceeded."""
    late = False
    for name, found in measure().items():
        late = late or found["seconds"] > found["limit"]
        accuracy = f"  radius 2^-{found['accurate_bits']:.0f}" if "accurate_bits" in found else ""
        print(f"{name:<32} {found['seconds'] * 1e3:8.1f} ms  (limit {found['limit'] * 1e3:.0f} ms){accuracy}")
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main())
