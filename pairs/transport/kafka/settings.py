"""How the processes of a run, and its engine, reach Kafka: one file in the folder of the transport, its owner's alone.

Client settings are given by librdkafka's names; for the JVM they are turned into those of Kafka's Java client, files of
certificates into their content, as executors may be on other hosts. Generated programs import this module.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from pairs.core.errors import BadInputError
from pairs.core.files import write_text

SETTINGS_FILE = "kafka.json"

_LOGIN = 'org.apache.kafka.common.security.{module}LoginModule required username="{user}" password="{password}";'
_PEM_FILES = {  # each with Java's name of its content, and of its store
    "ssl.ca.location": ("ssl.truststore.certificates", "ssl.truststore.type"),
    "ssl.certificate.location": ("ssl.keystore.certificate.chain", "ssl.keystore.type"),
    "ssl.key.location": ("ssl.keystore.key", "ssl.keystore.type"),
}


@dataclass(frozen=True)
class KafkaSettings:
    """The content of kafka.json."""

    bootstrap: str
    ticks: str  # the topic of ticks
    answers: dict[str, str]  # the topic of each stream of answers
    partitions: int  # of each topic
    sources: list[int]  # partitions that ticks come by: the others have no symbol
    drivers: int
    client: dict[str, str]  # further settings of clients; may be secrets

    @classmethod
    def of(cls, source: str | Path) -> "KafkaSettings | None":
        """Read the settings in a folder; none if the transport there is not Kafka."""
        file = Path(source) / SETTINGS_FILE
        try:
            return cls(**json.loads(file.read_text(encoding="utf-8")))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, ValueError, TypeError) as error:
            raise BadInputError(f"{file}: cannot be read: {error}; start the run again") from None

    def write(self, folder: Path) -> None:
        write_text(folder / SETTINGS_FILE, json.dumps(asdict(self)))

    @property
    def topics(self) -> list[str]:
        return [self.ticks, *self.answers.values()]

    @property
    def for_librdkafka(self) -> dict[str, str]:
        return {"bootstrap.servers": self.bootstrap, **self.client}

    @property
    def for_java(self) -> dict[str, str]:
        """Return the settings as Kafka's Java client names them."""
        return {"bootstrap.servers": self.bootstrap, **java_settings(self.client)}


def java_settings(client: dict[str, str]) -> dict[str, str]:
    """Turn client settings by librdkafka's names into those of Kafka's Java client."""
    left = dict(client)
    found: dict[str, str] = {}
    if mechanism := left.pop("sasl.mechanisms", None) or left.pop("sasl.mechanism", None):
        found["sasl.mechanism"] = mechanism
    if "sasl.username" in left:
        module = "plain.Plain" if mechanism in (None, "PLAIN") else "scram.Scram"
        user, password = (_escape(left.pop(name, "")) for name in ("sasl.username", "sasl.password"))
        found["sasl.jaas.config"] = _LOGIN.format(module=module, user=user, password=password)
    for name, (content, store) in _PEM_FILES.items():
        if name in left:
            found |= {content: Path(left.pop(name)).read_text(encoding="utf-8"), store: "PEM"}
    if left.get("ssl.endpoint.identification.algorithm") == "none":
        left["ssl.endpoint.identification.algorithm"] = ""
    return found | left


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
