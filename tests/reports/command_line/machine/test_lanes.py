"""Which worker takes which task, with workers whose tasks end when the test says so."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from typing import Any

import pytest

from giantsteps.reports.command_line.machine.lanes import Lanes
from giantsteps.verify.ledger.run import spread

WORDS = tuple("abcdefgh")


class Worker(Executor):
    """It begins what it is given, and goes on when it is told."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.future: Future[Any] = Future()
        self.lost = False

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        if self.lost:
            raise RuntimeError("closed")
        self.begun.append(fn(*args, **kwargs))
        self.future = Future()
        return self.future

    def goes_on(self) -> None:
        self.future.set_result(self.begun[-1])


def said(word: str) -> str:
    return word


def begun(words: str, count: int = 2) -> tuple[Lanes, list[Worker], dict[str, Future[Any]]]:
    workers = [Worker() for _ in range(count)]
    lanes = Lanes(workers, WORDS)
    return lanes, workers, {word: lanes.submit(said, word) for word in words}


def test_a_worker_takes_the_neighbour_of_its_last_task() -> None:
    """From its first task on, and what another one left over at its own end."""
    _, (one, two), futures = begun("aebfcgdh")
    for _ in range(3):
        one.goes_on()
        two.goes_on()
    assert (one.begun, two.begun) == (list("abcd"), list("efgh"))
    two.goes_on()
    one.goes_on()
    assert {word: future.result(0) for word, future in futures.items()} == {word: word for word in "abcdefgh"}
    _, (one, two), _ = begun("ahbcdg")
    for _ in range(3):
        two.goes_on()
    assert two.begun == list("hgdc")


def test_what_has_no_place_comes_first_and_leaves_a_worker_where_it_is() -> None:
    _, (one,), _ = begun("cdb?", 1)
    for _ in range(3):
        one.goes_on()
    assert one.begun == list("c?db")


def test_an_error_of_a_task_is_that_of_its_future_alone() -> None:
    _, (one,), futures = begun("ab", 1)
    one.future.set_exception(KeyError("a"))
    one.goes_on()
    with pytest.raises(KeyError, match="a"):
        futures["a"].result(0)
    assert futures["b"].result(0) == "b"


def test_where_a_worker_is_lost_what_waits_is_lost() -> None:
    """And it is asked for nothing from within its own answer; one that is closed says so to what comes later."""
    lanes, (one, two), futures = begun("abcd")
    one.future.set_exception(BrokenExecutor())
    for word in "acd":
        with pytest.raises(BrokenExecutor):
            futures[word].result(0)
    two.goes_on()
    assert futures["b"].result(0) == "b"
    assert (one.begun, two.begun) == (["a"], ["b"])
    two.lost = True
    with pytest.raises(RuntimeError, match="closed"):
        lanes.submit(said, "e").result(0)


def test_where_all_workers_are_lost_nothing_waits_for_one() -> None:
    """What is submitted then is refused; what waits is lost with a worker, but for what was given up before."""
    lanes, (one,), futures = begun("abc", 1)
    assert futures["b"].cancel()
    one.future.set_exception(BrokenExecutor("lost"))
    assert futures["b"].cancelled()
    with pytest.raises(BrokenExecutor, match="lost"):
        futures["c"].result(0)
    with pytest.raises(BrokenExecutor, match="lost"):
        lanes.submit(said, "d")
    lanes, (one,), futures = begun("abc", 1)
    one.lost = True
    one.goes_on()
    for word in "bc":
        with pytest.raises(RuntimeError, match="closed"):
            futures[word].result(0)


def test_what_waits_is_dropped_with_the_lanes() -> None:
    lanes, (one,), futures = begun("abc", 1)
    lanes.shutdown(wait=False, cancel_futures=True)
    one.future.cancel()
    assert futures["b"].cancelled()
    assert futures["c"].cancelled()
    assert one.begun == ["a"]
    with pytest.raises(CancelledError):
        futures["a"].result(0)


@pytest.mark.parametrize("count", [0, 1, 2, 5, 8, 59])
def test_the_first_of_what_is_spread_are_far_from_each_other(count: int) -> None:
    found = spread([str(k) for k in range(count)])
    assert sorted(found, key=int) == [str(k) for k in range(count)]
    if count == 59:
        assert found[:4] == ["0", "32", "16", "48"]
