"""What an interruption must not break off half-way: it is heard as soon as that is done."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future

_T = TypeVar("_T")
_SLICE_SECONDS = 0.2
_ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def signals_held() -> Iterator[None]:
    """Hold the endings back; what came meanwhile is raised afterwards. For what is over soon by itself.

    Signals interrupt the main thread alone. Blocking them would block them in a child that is started as well.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    late: list[int] = []

    def keep(number: int, frame: FrameType | None) -> None:
        del frame
        late.append(number)

    handlers = {ending: signal.getsignal(ending) for ending in _ENDINGS}
    # What is ignored (nohup's) or left to the system stays so.
    held = {ending: handler for ending, handler in handlers.items() if callable(handler)}
    try:
        for ending in held:
            signal.signal(ending, keep)
        yield
    finally:
        for ending, handler in held.items():
            signal.signal(ending, handler)
        for number in late[:1]:
            signal.raise_signal(number)


def awaited(future: Future[_T]) -> _T:
    """What another thread comes to. In slices: a signal right before a wait without an end is heard when that ends."""
    while not future.done():
        with suppress(TimeoutError):
            future.exception(timeout=_SLICE_SECONDS)
    return future.result()
