"""How records are handed to Kafka: as many as can wait for the broker do."""

from confluent_kafka import KafkaException, Producer

from pairs.core.errors import PairsError

_POLL_S = 0.001


def send_record(producer: Producer, *record: object) -> None:
    """Hand a record to the client; wait while its queue is full."""
    while True:
        try:
            producer.produce(*record)
        except BufferError:
            producer.poll(_POLL_S)
        except KafkaException as error:
            raise PairsError(f"Kafka accepts no more records: {error.args[0].str()}") from None
        else:
            return
