package pairs.spark;

import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.connector.read.streaming.PartitionOffset;
import org.apache.spark.sql.connector.read.streaming.SupportsRealTimeRead;
import org.apache.spark.unsafe.types.UTF8String;
import pairs.TickLog;

/** Reads the ticks of a batch; in real-time mode as they come, until its time is up or no more will come. */
final class TickLogPartition implements SupportsRealTimeRead<InternalRow> {
  private static final long NAP_NS = 200_000; // between two looks for new ticks
  private static final int TICKS_BETWEEN_MARKS = 1024;

  private final TickLog log;
  private final long first;
  private final long end;
  private long next; // the tick to be read next
  private long produced;

  TickLogPartition(TickLogStream.Range range) {
    log = new TickLog(Path.of(range.folder()));
    first = range.first();
    end = range.end();
    next = first;
  }

  @Override
  public boolean next() {
    return next < end && read();
  }

  @Override
  public RecordStatus nextWithTimeout(Long timeoutMs) {
    boolean read = next < end && awaitTick(timeoutMs) && read();
    if (read && next % TICKS_BETWEEN_MARKS == 0) {
      log.markRead(next);
    }
    return RecordStatus.newStatusWithoutArrivalTime(read);
  }

  /** Wait for the next tick, not longer than the time given, and not if no more will come. */
  private boolean awaitTick(long timeoutMs) {
    if (next < produced) {
      return true;
    }
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
    while (true) {
      boolean closed = log.isClosed();
      produced = log.produced();
      if (next < produced) {
        return true;
      }
      log.markRead(next);
      boolean allRead = closed && next > first; // a batch without ticks lasts as long as any: they would chase each other
      if (allRead || System.nanoTime() >= deadline || Thread.currentThread().isInterrupted()) {
        return false;
      }
      LockSupport.parkNanos(NAP_NS);
    }
  }

  private boolean read() {
    log.seek(next++);
    return true;
  }

  @Override
  public InternalRow get() {
    Object[] values = {
      next - 1, UTF8String.fromBytes(log.symbol()), log.price(), log.size(), log.tickTS(), log.ts(),
    };
    return new GenericInternalRow(values);
  }

  @Override
  public PartitionOffset getOffset() {
    return TickLogStream.position(next);
  }

  @Override
  public void close() {}
}
