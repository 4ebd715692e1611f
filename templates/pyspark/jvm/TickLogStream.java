package pairs.spark;

import java.nio.file.Path;
import java.util.stream.LongStream;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.PartitionOffset;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.apache.spark.sql.connector.read.streaming.ReadMaxRows;
import org.apache.spark.sql.connector.read.streaming.SupportsAdmissionControl;
import org.apache.spark.sql.connector.read.streaming.SupportsRealTimeMode;
import pairs.TickLog;

/**
 * The stream of a tick log; offsets are positions: a batch that is run again gets the same ticks. A micro-batch is cut into
 * some partitions; in real-time mode there is one.
 */
final class TickLogStream implements MicroBatchStream, SupportsAdmissionControl, SupportsRealTimeMode {
  private final String folder;
  private final long mostTicks; // in a batch; 0: no limit
  private final int partitions;
  private final TickLog log;

  TickLogStream(String folder, long mostTicks, int partitions) {
    this.folder = folder;
    this.mostTicks = mostTicks;
    this.partitions = partitions;
    this.log = new TickLog(Path.of(folder));
  }

  /** A position in the log, the same for the stream and for its partition. */
  private static final class Position extends Offset implements PartitionOffset {
    final long seq;

    Position(long seq) {
      this.seq = seq;
    }

    @Override
    public String json() {
      return "{\"seq\": " + seq + "}";
    }
  }

  static PartitionOffset position(long seq) {
    return new Position(seq);
  }

  /** Ticks of one batch, from `first` up to `end` at most. */
  record Range(String folder, long first, long end) implements InputPartition {}

  @Override
  public Offset initialOffset() {
    return new Position(0);
  }

  @Override
  public Offset deserializeOffset(String json) {
    return new Position(Long.parseLong(json.replaceAll("\\D", "")));
  }

  @Override
  public Offset latestOffset() {
    return new Position(log.produced());
  }

  @Override
  public Offset latestOffset(Offset start, ReadLimit limit) {
    long produced = log.produced();
    boolean limited = limit instanceof ReadMaxRows;
    return new Position(limited ? Math.min(produced, ((Position) start).seq + mostTicks) : produced);
  }

  @Override
  public ReadLimit getDefaultReadLimit() {
    return mostTicks > 0 ? ReadLimit.maxRows(mostTicks) : ReadLimit.allAvailable();
  }

  @Override
  public InputPartition[] planInputPartitions(Offset start, Offset end) {
    long first = ((Position) start).seq;
    long ticks = ((Position) end).seq - first;
    return LongStream.range(0, partitions)
        .mapToObj(part -> new Range(folder, first + ticks * part / partitions, first + ticks * (part + 1) / partitions))
        .filter(range -> range.first < range.end)
        .toArray(InputPartition[]::new);
  }

  @Override
  public InputPartition[] planInputPartitions(Offset start) {
    long first = ((Position) start).seq;
    return new InputPartition[] {new Range(folder, first, mostTicks > 0 ? first + mostTicks : Long.MAX_VALUE)};
  }

  @Override
  public Offset mergeOffsets(PartitionOffset[] offsets) {
    return (Position) offsets[0];
  }

  @Override
  public PartitionReaderFactory createReaderFactory() {
    return partition -> new TickLogPartition((Range) partition);
  }

  @Override
  public void commit(Offset end) {
    // The program marks ticks as consumed by what Spark tells of a batch: that is earlier.
  }

  @Override
  public void stop() {}
}
