"""Evidence: what a check found, as data. None of it is a verdict; ``verify.protocol.verdict`` turns evidence into
one."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

# Ends a hypothesis that a theorem holds under and that the domain of its claim does not decide.
OF_A_THEOREM = "(a condition of a theorem)"


class Outcome(StrEnum):
    """Which way a piece of evidence points."""

    SUPPORTS = "supports"
    REFUTES = "refutes"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Settled:
    """One obligation after the checker looked at it.

    ``method`` names the rewriting that reduced it to zero, or what happened instead; ``witness`` is a point at which
    it is violated, empty otherwise.
    """

    says: str
    outcome: Outcome
    method: str
    witness: str = ""


@dataclass(frozen=True)
class Assumed:
    """An assumption of a theorem: its name, its kind, its statement in LaTeX, and its reference.

    ``reference`` is the meaning of a definition, the source of a lemma or of a part of the model, and for a hypothesis
    the id of its claim, or a sentence if no claim states it.
    """

    name: str
    kind: str
    statement: str = ""
    reference: str = ""

    @property
    def claim(self) -> str:
        """The id of the claim that states a hypothesis; empty if there is none."""
        return self.reference if self.kind == "hypothesis" and " " not in self.reference else ""


@dataclass(frozen=True)
class Made:
    """What the kernel made: the assumptions of a theorem, and how often each rule was used.

    ``digests`` name its proof, or those of its parts: they change with it.
    """

    assumptions: tuple[Assumed, ...]
    rules: tuple[tuple[str, int], ...]
    digests: tuple[str, ...] = ()


@dataclass(frozen=True)
class Proof:
    """A list of obligations, each rechecked with elementary algebra. No obligations is no proof.

    ``takes_limit``: what it proves is a limit that its obligations take. ``theorem``: what the kernel made, if the
    statement itself is its conclusion. ``unmade``: the steps that no rule of the kernel made, if it is not; without a
    list these are all obligations.
    """

    check: str
    obligations: tuple[Settled, ...]
    takes_limit: bool = False
    hypotheses: tuple[str, ...] = ()
    theorem: Made | None = None
    unmade: tuple[str, ...] = ()

    @property
    def without_rule(self) -> tuple[str, ...]:
        """The steps that no rule of the kernel made; none where the statement is a theorem."""
        if self.theorem is not None:
            return ()
        return self.unmade or tuple(dict.fromkeys(o.says for o in self.obligations))

    @property
    def outcome(self) -> Outcome:
        """Refuted by one violated obligation, undecided by one open one or by none at all."""
        outcomes = {o.outcome for o in self.obligations}
        if Outcome.REFUTES in outcomes:
            return Outcome.REFUTES
        return Outcome.SUPPORTS if outcomes == {Outcome.SUPPORTS} else Outcome.UNDECIDED

    @property
    def summary(self) -> str:
        """One sentence for the reader."""
        for settled in self.obligations:
            if settled.outcome is Outcome.REFUTES:
                return f"fails: {settled.says}; witness {settled.witness}"
        for settled in self.obligations:
            if settled.outcome is Outcome.UNDECIDED:
                return f"open: {settled.says} ({settled.method})"
        count = len(self.obligations)
        return f"{count} obligation{'s' * (count != 1)} discharged" if count else "no obligations, hence no proof"


@dataclass(frozen=True)
class Certificate:
    """Ball arithmetic: at every point both sides were enclosed; ``width`` is the largest radius of the difference.

    It supports only if every enclosure of the difference contains zero, of an ``inequality`` if every one has its sign,
    and none is wider than ``allowed_width``.
    """

    check: str
    points: int
    width: float
    allowed_width: float
    excluded_at: str = ""
    inequality: bool = False

    @property
    def outcome(self) -> Outcome:
        """A difference that excludes zero refutes, rigorously; wide balls decide nothing."""
        if self.excluded_at:
            return Outcome.REFUTES
        return Outcome.SUPPORTS if self.points > 0 and self.width <= self.allowed_width else Outcome.UNDECIDED

    @property
    def summary(self) -> str:
        """One sentence for the reader."""
        if self.excluded_at:
            wrong = "are in the other order" if self.inequality else "are disjoint"
            return f"the enclosures of the two sides {wrong} at {self.excluded_at}"
        found = "are disjoint and in order" if self.inequality else "overlap"
        points = "1 point" if self.points == 1 else f"{self.points} points"
        return f"the enclosures {found} at {points}, none wider than {self.allowed_width:.0e}"


# A point outside the hypotheses of a check, or where its numerics say that they did not converge, is not counted; a
# check that loses more than a fifth of its points has not looked at the domain that it claims.
USABLE = 0.8


@dataclass(frozen=True)
class Agreement:
    """Two independent computations at ``points`` of ``asked`` points: the largest violation, and the tolerance.

    ``smallest_detectable`` is the smallest relative error of the statement that this check would have caught: the
    tolerance, or more where all sides are so small that errors are measured on an absolute scale. ``finite_size``: one
    of the two is a measurement at finite values of what grows, not a second formula of the limit.
    """

    check: str
    points: int
    worst: float
    tolerance: float
    worst_at: str
    reason: str
    asked: int = 0
    smallest_detectable: float = float("inf")
    finite_size: bool = False

    @property
    def outcome(self) -> Outcome:
        """No points, points of which more than a fifth could not be used, or a value that is no number decide nothing.

        A violation refutes whatever the other points gave.
        """
        if self.worst > self.tolerance and self.worst != float("inf"):
            return Outcome.REFUTES
        if self.points == 0 or self.points < USABLE * self.asked or not self.worst < float("inf"):
            return Outcome.UNDECIDED
        return Outcome.SUPPORTS if self.worst <= self.tolerance else Outcome.REFUTES

    @property
    def summary(self) -> str:
        """One sentence for the reader."""
        if self.outcome is Outcome.REFUTES:
            return f"violated by {self.worst:.2g} (allowed {self.tolerance:.0e}) at {self.worst_at}"
        if self.outcome is Outcome.UNDECIDED:
            return f"{self.points} of {max(self.asked, self.points)} points could be used, the last {self.worst_at}"
        return f"holds at {self.points} points to {self.tolerance:.0e}"


@dataclass(frozen=True)
class FiniteSize:
    """Simulation against a predicted limit: an extrapolation to infinite dimension and its distance in standard errors.

    ``outcome`` is decided by the finite-size protocol (``verify.checks.finite_size``), which states its false-alarm
    rate.
    """

    check: str
    experiments: int
    z: float
    threshold: float
    smallest_detectable: float
    outcome: Outcome
    sentence: str

    @property
    def summary(self) -> str:
        """One sentence for the reader."""
        return self.sentence


Evidence = Proof | Certificate | Agreement | FiniteSize
