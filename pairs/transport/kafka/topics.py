"""The topics of a run: created before it, removed after it; whatever a broker refuses becomes one line for the user."""

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
_KEPT_FOR = {"retention.ms": str(30 * 60_000), "segment.bytes": str(64 << 20)}  # so that a long run needs little disk
_LOGIN = (KafkaError._AUTHENTICATION, KafkaError.SASL_AUTHENTICATION_FAILED, KafkaError._SSL)
_SETTING = (KafkaError._INVALID_ARG, KafkaError._UNSUPPORTED_FEATURE)


def refuse_unreachable(bootstrap: str, client: Mapping[str, str]) -> None:
    """Refuse brokers that do not answer, or not to these settings."""
    settings = KafkaSettings(bootstrap=bootstrap, ticks="", answers={}, partitions=1, drivers=1, client=dict(client))
    with waiting(f"asking {bootstrap}"), _admin(settings) as admin:
        admin.list_topics(timeout=_TIMEOUT_S)


def refuse_existing(settings: KafkaSettings) -> None:
    """Refuse brokers that have a topic of the name of one of the run's."""
    with _admin(settings) as admin:
        known = admin.list_topics(timeout=_TIMEOUT_S).topics
    for topic in settings.topics:
        if topic in known:
            raise BadInputError(f"topic {topic}: exists on {settings.bootstrap}; remove it, or give another -o")


def create_topics(settings: KafkaSettings, keep: bool) -> None:
    """Create the topics of a run; if one cannot be created, none is left behind."""
    with _admin(settings) as admin:
        config = {} if keep else _KEPT_FOR
        wanted = [NewTopic(topic, settings.partitions, config=config) for topic in settings.topics]
        created = admin.create_topics(wanted, operation_timeout=_TIMEOUT_S)
        try:
            _wait_for(created.values())
        except BaseException:
            _remove(admin, [topic for topic, future in created.items() if _succeeded(future)])
            raise


def remove_topics(settings: KafkaSettings) -> None:
    with _admin(settings) as admin:
        _remove(admin, settings.topics)


def _remove(admin: AdminClient, topics: list[str]) -> None:
    for future in admin.delete_topics(topics, operation_timeout=_TIMEOUT_S).values() if topics else ():
        with suppress(KafkaException):  # it was never created
            future.result(_TIMEOUT_S)


def _wait_for(futures: Iterable["Future[None]"]) -> None:
    for future in futures:
        future.result(_TIMEOUT_S)


def _succeeded(future: "Future[None]") -> bool:
    with suppress(KafkaException, TimeoutError):
        future.result(_TIMEOUT_S)
        return True
    return False


@contextmanager
def _admin(settings: KafkaSettings) -> Iterator[AdminClient]:
    """Give a client for the administration; an error becomes one line that names the broker."""
    errors: list[KafkaError] = []
    given: dict[str, Any] = settings.for_librdkafka | {"error_cb": errors.append, "log_level": "0"}
    try:
        admin = AdminClient(given)
    except KafkaException as error:
        raise _refusal(settings, [error.args[0]]) from None
    try:
        yield admin
    except KafkaException as error:
        admin.poll(0)  # here the client tells what went wrong before
        raise _refusal(settings, [*errors, error.args[0]]) from None
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
    if told.code() in (KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN, KafkaError._RESOLVE, KafkaError._TIMED_OUT):
        remedy = "check the address, or leave it out to start a broker for the run"
        return BadInputError(f"--bootstrap: no broker answers at {settings.bootstrap}: {reason}; {remedy}")
    return BadInputError(f"--bootstrap: {settings.bootstrap} refuses the topics of the run: {reason}; ask who runs it")
