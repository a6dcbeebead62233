"""What `giantsteps solve --certify` and `--digits` add to a solution, for people and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from giantsteps.reports.command_line.problems import InputProblem

if TYPE_CHECKING:
    from giantsteps.numerics.certificates.certify import Certificate
    from giantsteps.numerics.models.model import Model

_VALUES = ("test_error", "training_error", "m", "zeta", "psi", "q1", "q2", "V1", "V2")


def extras(model: Model, certify: bool, digits: int | None) -> tuple[dict[str, Any], list[tuple[str, str]], bool]:
    """(JSON fields, rows of text, whether all that was asked for was reached)."""
    document: dict[str, Any] = {}
    rows: list[tuple[str, str]] = []
    reached = True
    if digits is not None:
        document["any_precision"], more, reached = _any_precision(model, digits)
        rows += more
    if certify:
        from giantsteps.numerics.certificates.certify import certify as certified

        certificate = certified(model)
        document["certificate"] = certificate.to_dict()
        rows += certificate_rows(certificate)
        reached = reached and certificate.certified
    return document, rows, reached


def _any_precision(model: Model, digits: int) -> tuple[dict[str, Any], list[tuple[str, str]], bool]:
    from giantsteps.numerics.balls.arithmetic import PrecisionError
    from giantsteps.numerics.models.parameters import ModelError
    from giantsteps.verify.digits.solve import solve

    try:
        document = solve(model, digits=digits).to_dict()
    except ModelError as reason:
        raise InputProblem(str(reason)) from None
    except PrecisionError as reason:
        status = f"not reached: {reason}"
        return {"status": status, "digits": digits}, [(f"{digits} digits", status)], False
    names = [*_VALUES, *(["chi"] if "chi" in document else [])]
    shown = [(f"{name.replace('_', ' ')}, {digits} digits", _flat(document[name])) for name in names]
    return document, [*shown, (f"error estimate, {digits} digits", document["check"])], True


def _flat(value: Any) -> str:
    return value if isinstance(value, str) else ", ".join(map(_flat, value))


def _which(certificate: Certificate) -> str:
    from giantsteps.numerics.certificates.certify import box_texts

    if certificate.only_by:
        return f"the only solution, in the box of V1 and V2 (by {certificate.only_by})"
    return f"exactly one solution in a box of {', '.join(box_texts(certificate.box))}"


def certificate_rows(certificate: Certificate) -> list[tuple[str, str]]:
    """The certificate for people."""
    if not certificate.certified:
        return [("certificate", certificate.status)]
    from giantsteps.numerics.certificates.certify import box_texts

    box = box_texts(certificate.box)
    texts = certificate.texts()
    return [
        ("certificate", _which(certificate)),
        *((f"box of {name}", f"{ends[0]} to {ends[1]}") for name, ends in box.items()),
        ("contraction factor", f"{certificate.contraction:.2g}"),
        ("test error", f"{texts['test_error']}, {certificate.digits} digits certain"),
        ("training error", texts["training_error"]),
    ]
