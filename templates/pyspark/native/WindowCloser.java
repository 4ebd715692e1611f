package pairs.spark;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.StatefulProcessor;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.streaming.ValueState;
import pairs.Market;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Closes the windows of a pair when the clock says so, and hands on its last ratios.
 *
 * <p>The rows of a batch may come in any order. A window comes with its values at the end of the batch; since time never
 * goes back, these are final if the batch has a tick after the window. So its first tick puts it in its place.
 */
final class WindowCloser extends StatefulProcessor<Integer, WindowRow, Closing> {
  private static final Comparator<WindowRow> BY_FIRST_TICK =
      Comparator.comparingLong(WindowRow::getTickTS).thenComparing(row -> !row.isClock());

  private final Market market;
  private final int mostRatios;
  private transient ValueState<OpenWindows> windows;
  private transient ValueState<LastRatios> ratios;
  private transient LastRatios known; // of the present pair, once they are asked for

  WindowCloser(Market market, int mostRatios) {
    this.market = market;
    this.mostRatios = mostRatios;
  }

  @Override
  public void init(OutputMode outputMode, TimeMode timeMode) {
    windows = getHandle().getValueState("windows", Encoders.bean(OpenWindows.class), TTLConfig.NONE());
    ratios = getHandle().getValueState("ratios", Encoders.bean(LastRatios.class), TTLConfig.NONE());
  }

  @Override
  public Iterator<Closing> handleInputRows(Integer pair, Iterator<WindowRow> rows, TimerValues timerValues) {
    TicksRead.handled();
    List<WindowRow> sorted = new ArrayList<>();
    rows.foreach(sorted::add);
    sorted.sort(BY_FIRST_TICK);
    long[] periodsMs = market.pairs().get(pair).periodsMs();
    OpenWindows open = windows.exists() ? windows.get() : new OpenWindows(periodsMs.length);
    List<Closing> closings = new ArrayList<>();
    for (WindowRow row : sorted) {
      TicksRead.set(row.getSeq() + 1);
      if (open.isClosed()) {
        break;
      } else if (row.isClock()) {
        onClock(row, pair, periodsMs, open, closings);
      } else {
        open.grow(Arrays.binarySearch(periodsMs, row.getPeriodMs()), row);
      }
    }
    windows.update(open);
    if (known != null) {
      ratios.update(known);
      known = null;
    }
    return CollectionConverters.asScala(closings.iterator());
  }

  private void onClock(WindowRow tick, int pair, long[] periodsMs, OpenWindows open, List<Closing> closings) {
    boolean bell = tick.getTickTS() >= market.closeMs();
    for (int period = 0; period < periodsMs.length; period++) {
      boolean ended = open.hasEnded(period, periodsMs[period], tick.getTickTS());
      double ratio = ended ? open.close(period) : Double.NaN;
      if (bell || !Double.isNaN(ratio)) {
        Closing closing = new Closing();
        closing.setPair(pair);
        closing.setPeriodMs(periodsMs[period]);
        closing.setRatios(remember(period, periodsMs.length, ratio));
        closing.setPrice1(price(tick, 1, bell ? open.lastPrice(1) : open.price(period, 1)));
        closing.setPrice2(price(tick, 2, bell ? open.lastPrice(2) : open.price(period, 2)));
        closing.setBell(bell);
        closing.setTickTS(tick.getTickTS());
        closing.setTS(tick.getTS());
        closings.add(closing);
      }
    }
    open.setClosed(bell);
  }

  /** Return the last price of a leg: that of the trigger counts. */
  private static int price(WindowRow trigger, int leg, int before) {
    return trigger.getLeg() == leg ? trigger.getPrice() : before;
  }

  /** Return the last ratios up to this one; null if there is none. */
  private double[] remember(int period, int periods, double ratio) {
    if (Double.isNaN(ratio)) {
      return null;
    }
    if (known == null) {
      known = ratios.exists() ? ratios.get() : new LastRatios(periods, mostRatios);
    }
    known.add(period, ratio);
    return known.of(period);
  }
}
