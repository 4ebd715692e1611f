"""The jars that Kafka needs: a broker for one machine, and Spark's connector."""

from importlib.metadata import version

from pairs.core.jars import JarSet

PACKAGE = "kafka"
BROKER = JarSet("kafka-broker", ("org.apache.kafka:kafka_2.13:4.3.0", "org.slf4j:slf4j-simple:1.7.36"), PACKAGE)

# Spark's own jars lack these three; the versions are those that Spark 4.2 and 4.3 are built with.
_LIBRARIES = (
    "org.apache.kafka:kafka-clients:3.9.2",
    "org.apache.commons:commons-pool2:2.13.1",
    "org.scala-lang.modules:scala-parallel-collections_2.13:1.2.0",
)


def connectors() -> list[JarSet]:
    """Return Spark's connector in the version of PySpark, then in older versions that work with it, nearest first."""
    exact = version("pyspark")
    return [_connector(*versions) for versions in ((exact, exact), ("4.2.0", "4.2.0"), ("4.2.0", "4.0.0"))]


def _connector(source: str, tokens: str) -> JarSet:
    spark = (
        f"org.apache.spark:spark-sql-kafka-0-10_2.13:{source}",
        f"org.apache.spark:spark-token-provider-kafka-0-10_2.13:{tokens}",
    )
    return JarSet("kafka-connector", spark + _LIBRARIES, PACKAGE, alone=True)
