package pairs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;

/** Reads a tick log: memory-mapped segments of records, and a control file that tells how far they are written. */
public final class TickLog {
  public static final int RECORD_BYTES = 48;

  private static final VarHandle LONGS = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final int VERSION = 0; // places in the control file
  private static final int SEGMENT_RECORDS = 1;
  private static final int DRIVERS = 2;
  private static final int NEXT = 4;
  private static final int CLOSED = 20;
  private static final int READ = 36;
  private static final int FORMAT = 3;
  private static final int SYMBOL_BYTES = 16; // and then, in a record, seq, price, size, tickTS, TS
  private static final int PRICE_AT = 24;
  private static final int SIZE_AT = 28;
  private static final int TICK_TS_AT = 32;
  private static final int TS_AT = 40;

  private final Path folder;
  private final ByteBuffer control;
  private final long segmentRecords;
  private final int drivers;
  private ByteBuffer segment;
  private long segmentNumber = -1;
  private int at; // place of the present record in its segment

  public TickLog(Path folder) {
    this.folder = folder;
    this.control = map("control", MapMode.READ_WRITE);
    if (place(VERSION) != FORMAT) {
      throw new IllegalStateException(folder + ": its format is " + place(VERSION) + " and not " + FORMAT);
    }
    this.segmentRecords = place(SEGMENT_RECORDS);
    this.drivers = (int) place(DRIVERS);
  }

  /** How many ticks there are, without a gap. */
  public long produced() {
    long least = Long.MAX_VALUE;
    for (int driver = 0; driver < drivers; driver++) {
      least = Math.min(least, place(NEXT + driver));
    }
    return least;
  }

  /** Whether no more ticks will come; ask this before you ask how many there are. */
  public boolean isClosed() {
    for (int driver = 0; driver < drivers; driver++) {
      if (place(CLOSED + driver) == 0) {
        return false;
      }
    }
    return true;
  }

  /** Tell how far the log is read; it may be read again from before. */
  public void markRead(long position) {
    LONGS.setRelease(control, Long.BYTES * READ, position);
  }

  /** Go to a tick, which must have been produced. */
  public void seek(long position) {
    long number = position / segmentRecords;
    if (number != segmentNumber) {
      segment = map(String.format("segment-%08d", number), MapMode.READ_ONLY);
      segmentNumber = number;
    }
    at = (int) (position % segmentRecords) * RECORD_BYTES;
  }

  /** The symbol of the present tick, in UTF-8. */
  public byte[] symbol() {
    int length = 0;
    while (length < SYMBOL_BYTES && segment.get(at + length) != 0) {
      length++;
    }
    byte[] symbol = new byte[length];
    segment.get(at, symbol);
    return symbol;
  }

  public int price() {
    return segment.getInt(at + PRICE_AT);
  }

  public int size() {
    return segment.getInt(at + SIZE_AT);
  }

  public long tickTS() {
    return segment.getLong(at + TICK_TS_AT);
  }

  public long ts() {
    return segment.getLong(at + TS_AT);
  }

  private long place(int number) {
    return (long) LONGS.getAcquire(control, Long.BYTES * number);
  }

  private ByteBuffer map(String name, MapMode mode) {
    Set<StandardOpenOption> options =
        mode == MapMode.READ_WRITE
            ? Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE)
            : Set.of(StandardOpenOption.READ);
    try (FileChannel channel = FileChannel.open(folder.resolve(name), options)) {
      return channel.map(mode, 0, channel.size()).order(ByteOrder.LITTLE_ENDIAN);
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
  }
}
