package pairs.spark;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.StatefulProcessor;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.streaming.ValueState;
import pairs.Answers;
import pairs.Books;
import pairs.Market;
import pairs.PairTrader;
import pairs.Strategy;
import pairs.Tick;
import pairs.Windows;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Lets the strategies of each pair answer to its ticks, with their state in Spark's state store: the windows of a pair
 * and the books of its strategies.
 *
 * <p>Within a batch the state of a pair is read once. It is written with every change or, if it is held, when the
 * router tells that the batch ends. Spark makes it durable when the batch is committed, either way: a batch that is cut
 * off is run again from the state before it.
 */
final class Traders extends StatefulProcessor<Integer, RoutedTick, Answer> {
  private final Market market;
  private final boolean held;
  private transient ValueState<Windows> windows;
  private transient ValueState<Books> books;
  private transient Map<Integer, PairTrader> traders;
  private transient Collected collected;

  Traders(Market market, boolean held) {
    this.market = market;
    this.held = held;
  }

  @Override
  public void init(OutputMode outputMode, TimeMode timeMode) {
    windows = getHandle().getValueState("windows", Encoders.bean(Windows.class), TTLConfig.NONE());
    books = getHandle().getValueState("books", Encoders.bean(Books.class), TTLConfig.NONE());
    traders = new HashMap<>();
    collected = new Collected();
  }

  @Override
  public Iterator<Answer> handleInputRows(Integer pair, Iterator<RoutedTick> ticks, TimerValues timerValues) {
    TicksRead.handled();
    PairTrader trader = traders.computeIfAbsent(pair, this::read);
    while (ticks.hasNext()) {
      RoutedTick routed = ticks.next();
      if (routed.isEndOfBatch()) {
        write(trader, true);
      } else {
        boolean closedWindow = trader.onTick(routed.tick(), collected);
        if (!held) {
          write(trader, closedWindow);
        }
      }
    }
    return collected.take();
  }

  private PairTrader read(int pair) {
    if (windows.exists()) {
      return new PairTrader(market.pairs().get(pair), market.closeMs(), windows.get(), books.get());
    }
    PairTrader trader = new PairTrader(market.pairs().get(pair), market.closeMs());
    write(trader, true);
    return trader;
  }

  private void write(PairTrader trader, boolean booksChanged) {
    if (booksChanged) {
      books.update(trader.books());
    }
    windows.update(trader.windows());
  }

  /** Collects the answers to a tick. */
  private static final class Collected implements Answers {
    private static final Iterator<Answer> NONE = CollectionConverters.asScala(List.<Answer>of().iterator());

    private List<Answer> answers = new ArrayList<>();

    @Override
    public void indicator(
        Strategy strategy, long number, double ratio, double average, double upper, double lower, Tick trigger) {
      answers.add(
          Answer.indicator(
              strategy.alias(), number, ratio, average, upper, lower, trigger.tickTS(), trigger.ts()));
    }

    @Override
    public void order(
        Strategy strategy, long number, String type, String symbol, int price, long size, Tick trigger) {
      answers.add(
          Answer.order(strategy.alias(), number, type, symbol, price, size, trigger.tickTS(), trigger.ts()));
    }

    Iterator<Answer> take() {
      if (answers.isEmpty()) {
        return NONE;
      }
      answers.get(answers.size() - 1).setLast(true);
      List<Answer> taken = answers;
      answers = new ArrayList<>();
      return CollectionConverters.asScala(taken.iterator());
    }
  }
}
