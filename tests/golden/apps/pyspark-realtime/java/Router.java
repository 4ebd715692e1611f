package pairs.spark;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.TreeMap;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import pairs.Market;
import pairs.Pair;
import pairs.Tick;

/**
 * Sends ticks to the pairs that they concern: every tick to those that watch its symbol, and the first tick after the
 * end of a window to all pairs with windows of that length, because it closes them.
 *
 * <p>It reads the one partition of the source in order and holds nothing that must survive: the first tick of a batch
 * goes to all pairs. When a batch ends, every pair that got a tick is told so, if that is asked for.
 */
final class Router implements MapPartitionsFunction<TickRow, RoutedTick> {
  private final Market market;
  private final boolean marksEnds;

  Router(Market market, boolean marksEnds) {
    this.market = market;
    this.marksEnds = marksEnds;
  }

  @Override
  public Iterator<RoutedTick> call(Iterator<TickRow> ticks) {
    return new Routes(ticks);
  }

  /** A place where ticks of a symbol go. */
  private record Watcher(int pair, int leg) {}

  /** The windows of one length. */
  private static final class Period {
    final long lengthMs;
    final BitSet pairs = new BitSet();
    long end = Long.MIN_VALUE;

    Period(long lengthMs) {
      this.lengthMs = lengthMs;
    }
  }

  private final class Routes implements Iterator<RoutedTick> {
    private final Iterator<TickRow> ticks;
    private final Map<String, List<Watcher>> watchers = new HashMap<>();
    private final Map<Long, Period> periods = new TreeMap<>();
    private final RoutedTick routed = new RoutedTick(); // used again and again: Spark copies it at once
    private final BitSet reached = new BitSet(); // pairs that got a tick in this batch
    private final BitSet clocked = new BitSet(); // pairs that get the present tick because it shows the time
    private long nextEnd = Long.MIN_VALUE; // of any window
    private TickRow tick;
    private Iterator<Watcher> legs = List.<Watcher>of().iterator();
    private int clock = -1; // the next of `clocked`
    private int mark = -1; // the next pair to be told that the batch ends

    Routes(Iterator<TickRow> ticks) {
      this.ticks = ticks;
      List<Pair> pairs = market.pairs();
      for (int number = 0; number < pairs.size(); number++) {
        for (int leg = 1; leg <= 2; leg++) {
          String symbol = pairs.get(number).symbol(leg);
          watchers.computeIfAbsent(symbol, unknown -> new ArrayList<>()).add(new Watcher(number, leg));
        }
        for (long lengthMs : pairs.get(number).periodsMs()) {
          periods.computeIfAbsent(lengthMs, Period::new).pairs.set(number);
        }
      }
    }

    @Override
    public boolean hasNext() {
      while (!legs.hasNext() && clock < 0 && mark < 0) {
        if (ticks.hasNext()) {
          take(ticks.next());
        } else if (marksEnds && !reached.isEmpty()) {
          mark = reached.nextSetBit(0);
        } else {
          return false;
        }
      }
      return true;
    }

    @Override
    public RoutedTick next() {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      if (legs.hasNext()) {
        Watcher watcher = legs.next();
        routed.set(watcher.pair, watcher.leg, tick);
      } else if (clock >= 0) {
        routed.set(clock, Tick.CLOCK, tick);
        clock = clocked.nextSetBit(clock + 1);
      } else {
        routed.setMark(mark);
        reached.clear(mark);
        mark = reached.nextSetBit(mark + 1);
      }
      return routed;
    }

    private void take(TickRow next) {
      tick = next;
      TicksRead.set(next.getSeq() + 1);
      List<Watcher> watching = watchers.getOrDefault(next.getSymbol(), List.of());
      legs = watching.iterator();
      for (Watcher watcher : watching) {
        reached.set(watcher.pair);
      }
      if (next.getTickTS() >= nextEnd) {
        closeWindows(next.getTickTS());
        reached.or(clocked);
        watching.forEach(watcher -> clocked.clear(watcher.pair)); // they get it anyway
        clock = clocked.nextSetBit(0);
      }
    }

    /** Find the pairs whose windows a tick closes. */
    private void closeWindows(long tickTS) {
      clocked.clear();
      nextEnd = tickTS < market.closeMs() ? market.closeMs() : Long.MAX_VALUE;
      for (Period period : periods.values()) {
        if (tickTS >= period.end || tickTS >= market.closeMs()) {
          clocked.or(period.pairs);
          period.end = (tickTS / period.lengthMs + 1) * period.lengthMs;
        }
        if (tickTS < market.closeMs()) {
          nextEnd = Math.min(nextEnd, period.end);
        }
      }
    }
  }
}
