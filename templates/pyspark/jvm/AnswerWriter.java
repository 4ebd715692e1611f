package pairs.spark;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.sql.ForeachWriter;
import pairs.AnswerConnection;
import pairs.Market;

/** Sends answers to the sink of a run, when the last answer of a pair to a tick is there. */
final class AnswerWriter extends ForeachWriter<Answer> {
  // A task of each batch writes to a partition; connections outlast batches.
  private static final Map<Long, AnswerConnection> CONNECTIONS = new ConcurrentHashMap<>();

  private final String host;
  private final int port;
  private final Market market;
  private transient AnswerConnection connection;

  AnswerWriter(String host, int port, Market market) {
    this.host = host;
    this.port = port;
    this.market = market;
  }

  @Override
  public boolean open(long partition, long batch) {
    connection = CONNECTIONS.computeIfAbsent(partition, unknown -> connect());
    return true;
  }

  private AnswerConnection connect() {
    try {
      return new AnswerConnection(host, port, market);
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
  }

  @Override
  public void process(Answer answer) {
    try {
      write(answer);
      if (answer.isLast()) {
        connection.flush();
      }
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
  }

  private void write(Answer answer) throws IOException {
    if (answer.isOrder()) {
      connection.order(
          answer.getStrategy(),
          answer.getNumber(),
          answer.getType(),
          answer.getSymbol(),
          answer.getPrice(),
          answer.getSize(),
          answer.getInputTickTS(),
          answer.getInputTS());
    } else {
      connection.indicator(
          answer.getStrategy(),
          answer.getNumber(),
          answer.getRatio(),
          answer.getAvgRatio(),
          answer.getUpperBand(),
          answer.getLowerBand(),
          answer.getInputTickTS(),
          answer.getInputTS());
    }
  }

  @Override
  public void close(Throwable error) {
    if (error != null && CONNECTIONS.values().remove(connection)) { // otherwise it is for the next batch, too
      connection.close();
    }
  }
}
