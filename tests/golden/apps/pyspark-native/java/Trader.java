package pairs.spark;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.StatefulProcessor;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.TimeMode;
import org.apache.spark.sql.streaming.TimerValues;
import org.apache.spark.sql.streaming.ValueState;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/** Keeps the position of a strategy, and orders by its signals, at a stop-loss and at the bell. */
final class Trader extends StatefulProcessor<String, Evaluation, Answer> {
  private static final int LOT = 10; // shares are bought by the ten

  private transient ValueState<Position> positions;

  @Override
  public void init(OutputMode outputMode, TimeMode timeMode) {
    positions = getHandle().getValueState("position", Encoders.bean(Position.class), TTLConfig.NONE());
  }

  @Override
  public Iterator<Answer> handleInputRows(String strategy, Iterator<Evaluation> rows, TimerValues timerValues) {
    TicksRead.handled();
    List<Evaluation> sorted = new ArrayList<>();
    rows.foreach(sorted::add);
    sorted.sort((one, other) -> Long.compare(one.getTickTS(), other.getTickTS()));
    Position position = positions.exists() ? positions.get() : new Position(sorted.get(0).getFundsCents());
    List<Answer> answers = new ArrayList<>();
    boolean traded = false;
    for (Evaluation now : sorted) {
      if (now.getAvgRatio() != null) {
        answers.add(indicator(now));
      }
      int before = answers.size();
      trade(now, position, answers);
      traded |= answers.size() > before;
    }
    if (traded) {
      positions.update(position);
    }
    if (!answers.isEmpty()) {
      answers.get(answers.size() - 1).setLast(true);
    }
    return CollectionConverters.asScala(answers.iterator());
  }

  /** Follow a signal that changes the position; else look at the stop-loss. At the bell sell what is owned. */
  private static void trade(Evaluation now, Position position, List<Answer> answers) {
    if (now.isBell()) {
      sell(now, position, answers);
    } else if (now.isUp() && position.getOwned() != 2) {
      sell(now, position, answers);
      buy(2, now, position, answers);
    } else if (now.isDown() && position.getOwned() != 1) {
      sell(now, position, answers);
      buy(1, now, position, answers);
    } else if (isLost(now, position)) {
      sell(now, position, answers);
    }
  }

  private static boolean isLost(Evaluation now, Position position) {
    double entry = position.getEntryRatio();
    return switch (position.getOwned()) {
      case 1 -> now.getRatio() <= (1 - now.getStopLoss()) * entry;
      case 2 -> now.getRatio() >= (1 + now.getStopLoss()) * entry;
      default -> false;
    };
  }

  private static void sell(Evaluation now, Position position, List<Answer> answers) {
    int leg = position.getOwned();
    if (leg == 0) {
      return;
    }
    position.setBalance(position.getBalance() + position.getShares() * now.price(leg));
    position.setOwned(0);
    answers.add(order(now, "SELL", leg, position.getShares()));
  }

  private static void buy(int leg, Evaluation now, Position position, List<Answer> answers) {
    long price = now.price(leg);
    long shares = position.getBalance() / (LOT * price) * LOT;
    if (shares == 0) {
      return;
    }
    position.setBalance(position.getBalance() - shares * price);
    position.setOwned(leg);
    position.setShares(shares);
    position.setEntryRatio(now.getRatio());
    answers.add(order(now, "BUY", leg, shares));
  }

  private static Answer indicator(Evaluation now) {
    return Answer.indicator(
        now.getStrategy(),
        number(now, 0),
        now.getRatio(),
        now.getAvgRatio(),
        now.getUpperBand(),
        now.getLowerBand(),
        now.getTickTS(),
        now.getTS());
  }

  private static Answer order(Evaluation now, String type, int leg, long shares) {
    long number = number(now, type.equals("SELL") ? 1 : 2);
    return Answer.order(
        now.getStrategy(), number, type, now.symbol(leg), now.price(leg), shares, now.getTickTS(), now.getTS());
  }

  /** A number that grows from answer to answer of a strategy: of a tick first the indicator, then sale and purchase. */
  private static long number(Evaluation now, int place) {
    return 3 * now.getTickTS() + place;
  }
}
