"""Spark's JVM: started within a limit and apart from our terminal, ended together with what it started."""

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from pathlib import Path
from typing import Any, TypeVar

import psutil

from pairs.core.process_tree import end_tree

_TIME_TO_NOTICE_S = 2

Started = TypeVar("Started")


def launch(settings: Mapping[str, str], log: Path) -> None:
    """Start the JVM, unless it runs already; its output goes to a log, the terminal's signals do not reach it."""
    from pyspark import SparkConf, SparkContext, java_gateway

    context: Any = SparkContext
    launch_gateway: Any = java_gateway.launch_gateway
    if context._gateway is None:
        conf = SparkConf().setAll(list(settings.items()))
        with log.open("ab") as output:
            options = {"stdout": output, "stderr": output, "start_new_session": True}
            context._ensure_initialized(gateway=launch_gateway(conf, options))


def end() -> None:
    """End the JVM and its Python workers at once, whatever they do."""
    from pyspark import SparkContext

    process = getattr(getattr(SparkContext, "_gateway", None), "proc", None)
    if process is not None:
        end_tree(process.pid)


def in_time(start: Callable[[], Started], seconds: float) -> Started:
    """Call a function that starts processes; if it takes too long, or is interrupted, end them.

    It is called in a thread of its own: PySpark waits for its JVM without a limit, and replaces the handler of Ctrl-C
    if it is called in the main thread.
    """
    before = psutil.Process().children()
    outcome: Future[Started] = Future()

    def call() -> None:
        try:
            outcome.set_result(start())
        except BaseException as error:  # noqa: BLE001 - carried to the main thread
            outcome.set_exception(error)

    threading.Thread(target=call, daemon=True).start()
    try:
        return outcome.result(seconds)
    except (TimeoutError, KeyboardInterrupt):
        for process in psutil.Process().children():
            if process not in before:
                end_tree(process.pid)
        wait([outcome], _TIME_TO_NOTICE_S)  # PySpark removes its temporary files
        raise
