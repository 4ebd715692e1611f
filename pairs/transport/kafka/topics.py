"""The topics of a run: created before it, removed after it; whatever a broker refuses becomes one line for the user."""

import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from typing import Any

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, NewTopic

from pairs.core.errors import BadInputError, one_line
from pairs.core.progress import waiting
from pairs.transport.kafka.settings import KafkaSettings

_TIMEOUT_S = 15.0
_STEP_S = 2.0
_KEPT_FOR = {"retention.ms": str(30 * 60_000), "segment.bytes": str(64 << 20)}  # so that a long run needs little disk
_LOGIN = (KafkaError._AUTHENTICATION, KafkaError.SASL_AUTHENTICATION_FAILED, KafkaError._SSL)
_GONE = (KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN, KafkaError._RESOLVE, KafkaError._TIMED_OUT)
_HOPELESS = (KafkaError._ALL_BROKERS_DOWN, *_LOGIN)
_SETTING = (KafkaError._INVALID_ARG, KafkaError._UNSUPPORTED_FEATURE)


def refuse_unreachable(bootstrap: str, client: Mapping[str, str]) -> None:
    """Refuse brokers that do not answer, or not to these settings."""
    settings = KafkaSettings(bootstrap, ticks="", answers={}, partitions=1, sources=[0], drivers=1, client=dict(client))
    with waiting(f"asking {bootstrap}"), _administration(settings) as admin:
        admin.topics()


def refuse_existing(settings: KafkaSettings) -> None:
    """Refuse brokers that have a topic of the name of one of the run's."""
    with _administration(settings) as admin:
        known = admin.topics()
    for topic in settings.topics:
        if topic in known:
            raise BadInputError(f"topic {topic}: exists on {settings.bootstrap}; remove it, or give another -o")


def create_topics(settings: KafkaSettings, keep: bool) -> None:
    """Create the topics of a run; if one cannot be created, none is left behind."""
    with _administration(settings) as admin:
        config = {} if keep else _KEPT_FOR
        wanted = [NewTopic(topic, settings.partitions, config=config) for topic in settings.topics]
        created = admin.client.create_topics(wanted, operation_timeout=_TIMEOUT_S)
        try:
            _wait_for(created.values())
        except BaseException:
            _remove(admin.client, [topic for topic, future in created.items() if _succeeded(future)])
            raise


def remove_topics(settings: KafkaSettings) -> None:
    with _administration(settings) as admin:
        _remove(admin.client, settings.topics)


def _remove(admin: AdminClient, topics: list[str]) -> None:
    for future in admin.delete_topics(topics, operation_timeout=_TIMEOUT_S).values() if topics else ():
        try:
            future.result(_TIMEOUT_S)
        except KafkaException as error:
            if error.args[0].code() != KafkaError.UNKNOWN_TOPIC_OR_PART:
                raise


def _wait_for(futures: Iterable["Future[None]"]) -> None:
    for future in futures:
        future.result(_TIMEOUT_S)


def _succeeded(future: "Future[None]") -> bool:
    with suppress(KafkaException, TimeoutError):
        future.result(_TIMEOUT_S)
        return True
    return False


class _Admin:
    """A client for the administration, and what it told of errors."""

    def __init__(self, settings: KafkaSettings) -> None:
        self._errors: list[KafkaError] = []
        own: dict[str, Any] = {"error_cb": self._errors.append, "log_level": "0"}
        self.client = AdminClient(settings.for_librdkafka | own)

    @property
    def errors(self) -> list[KafkaError]:
        self.client.poll(0)  # here the client tells
        return self._errors

    def topics(self) -> set[str]:
        """Return the topics that there are; give up before the time if no broker is left to ask."""
        deadline = time.monotonic() + _TIMEOUT_S
        while True:
            try:
                return set(self.client.list_topics(timeout=_STEP_S).topics)
            except KafkaException:
                if time.monotonic() > deadline or any(error.code() in _HOPELESS for error in self.errors):
                    raise


@contextmanager
def _administration(settings: KafkaSettings) -> Iterator[_Admin]:
    """Give a client for the administration; an error becomes one line that names the broker."""
    admin = None
    try:
        admin = _Admin(settings)
        yield admin
    except KafkaException as error:
        raise _refusal(settings, [*(admin.errors if admin else ()), error.args[0]]) from None
    except TimeoutError:
        raise BadInputError(
            f"--bootstrap: {settings.bootstrap} did not answer within {_TIMEOUT_S:.0f} s; check it"
        ) from None


def _refusal(settings: KafkaSettings, errors: list[KafkaError]) -> BadInputError:
    """Return what to do about the error that tells most: a refused login shows before the time-out that follows."""
    told = next((error for error in errors if error.code() in _LOGIN), errors[0])
    reason = one_line(told.str()).rstrip(".")
    if told.code() in _LOGIN:
        return BadInputError(
            f"--kafka: {settings.bootstrap} refuses the login: {reason}; check user, password and certificates"
        )
    if told.code() in _SETTING:
        return BadInputError(f"--kafka: {reason}; give settings of Kafka's clients by librdkafka's names")
    if told.code() in _GONE:
        remedy = "check the address, or leave it out to start a broker for the run"
        return BadInputError(f"--bootstrap: no broker answers at {settings.bootstrap}: {reason}; {remedy}")
    return BadInputError(f"--bootstrap: {settings.bootstrap} refuses the topics of the run: {reason}; ask who runs it")
