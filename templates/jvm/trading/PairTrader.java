package pairs;

/**
 * The strategies on one pair. Every tick of its symbols, and the first tick of any symbol after the end of a window,
 * goes through the five steps of a strategy:
 *
 * <pre>
 * 1 window     the first tick at or after the end of a window closes it (any symbol's tick: all ticks are the clock)
 * 2 ratio      of the two average prices, if both symbols traded
 * 3 indicator  mean of the last ratios, and bands at some standard deviations around it
 * 4 signal     the ratio leaves the bands: upwards or downwards
 * 5 order      sell what is owned, buy the other symbol; or sell at a stop-loss; or at the bell that closes the market
 * </pre>
 */
public final class PairTrader {
  private static final int NOTHING = 0;
  private static final int LOT = 10; // shares are bought by the ten

  private final Pair pair;
  private final long marketCloseMs;
  private final Windows windows;
  private final Books books;

  /** A pair that has seen nothing yet. */
  public PairTrader(Pair pair, long marketCloseMs) {
    this(pair, marketCloseMs, new Windows(pair), new Books(pair));
  }

  /** A pair that goes on from its state. */
  public PairTrader(Pair pair, long marketCloseMs, Windows windows, Books books) {
    this.pair = pair;
    this.marketCloseMs = marketCloseMs;
    this.windows = windows;
    this.books = books;
  }

  public Windows windows() {
    return windows;
  }

  public Books books() {
    return books;
  }

  /** Process a tick; return whether it closed a window, and so changed the books. */
  public boolean onTick(Tick tick, Answers answers) {
    if (windows.closed) {
      return false;
    }
    if (tick.leg() != Tick.CLOCK) {
      windows.lastPrice[tick.leg() - 1] = tick.price(); // the trigger's own price counts as the last
    }
    boolean bell = tick.tickTS() >= marketCloseMs;
    boolean closedAny = bell;
    for (int period = 0; period < windows.end.length; period++) {
      if (tick.tickTS() >= windows.end[period]) {
        closeWindow(period, tick, bell, answers);
        closedAny = true;
      }
    }
    if (bell) {
      closeMarket(tick, answers);
    } else if (tick.leg() != Tick.CLOCK) {
      windows.add(tick.leg(), tick.price());
    }
    return closedAny;
  }

  private void closeWindow(int period, Tick tick, boolean bell, Answers answers) {
    long lengthMs = pair.periodsMs[period];
    windows.end[period] = (tick.tickTS() / lengthMs + 1) * lengthMs;
    double ratio = windows.takeRatio(period);
    if (Double.isNaN(ratio)) {
      return;
    }
    for (int number = pair.firstOfPeriod[period]; number < pair.firstOfPeriod[period + 1]; number++) {
      onRatio(number, ratio, tick, bell, answers);
    }
  }

  /** The indicator of a strategy after a window, once it knows enough ratios; then what it does about it. */
  private void onRatio(int number, double ratio, Tick tick, boolean bell, Answers answers) {
    Strategy strategy = pair.strategies[number];
    int count = strategy.numPeriods();
    int first = pair.firstRatio[number];
    books.ratios[first + (int) (books.ratiosSeen[number]++ % count)] = ratio;
    if (books.ratiosSeen[number] < count) {
      return;
    }
    int oldest = (int) (books.ratiosSeen[number] % count);
    double average = average(first, count, oldest);
    double width = strategy.bandsMultiplier() * deviation(first, count, oldest, average);
    double upper = average + width;
    double lower = average - width;
    boolean up = ratio >= upper && !books.above[number];
    boolean down = ratio <= lower && !books.below[number];
    books.above[number] = ratio >= upper;
    books.below[number] = ratio <= lower;
    answers.indicator(strategy, books.answers[number]++, ratio, average, upper, lower, tick);
    if (!bell) {
      trade(number, ratio, up, down, tick, answers);
    }
  }

  private double average(int first, int count, int oldest) {
    double sum = 0;
    for (int place = 0; place < count; place++) {
      sum += books.ratios[first + (oldest + place) % count];
    }
    return sum / count;
  }

  /** The sample standard deviation, in a second pass: a running sum of squares drifts where prices stand still. */
  private double deviation(int first, int count, int oldest, double average) {
    double squares = 0;
    for (int place = 0; place < count; place++) {
      double distance = books.ratios[first + (oldest + place) % count] - average;
      squares += distance * distance;
    }
    return Math.sqrt(squares / (count - 1));
  }

  /** Follow a signal that changes the position; else look at the stop-loss. */
  private void trade(int number, double ratio, boolean up, boolean down, Tick tick, Answers answers) {
    int owned = books.owned[number];
    if (up && owned != 2) {
      sell(number, tick, answers);
      buy(number, 2, ratio, tick, answers);
    } else if (down && owned != 1) {
      sell(number, tick, answers);
      buy(number, 1, ratio, tick, answers);
    } else if (isLost(number, ratio)) {
      sell(number, tick, answers);
    }
  }

  private boolean isLost(int number, double ratio) {
    double limit = pair.strategies[number].stopLoss();
    double entry = books.entryRatio[number];
    return switch (books.owned[number]) {
      case 1 -> ratio <= (1 - limit) * entry;
      case 2 -> ratio >= (1 + limit) * entry;
      default -> false;
    };
  }

  private void sell(int number, Tick tick, Answers answers) {
    int leg = books.owned[number];
    if (leg == NOTHING) {
      return;
    }
    books.balance[number] += books.shares[number] * windows.lastPrice[leg - 1];
    books.owned[number] = NOTHING;
    order(number, "SELL", leg, books.shares[number], tick, answers);
  }

  private void buy(int number, int leg, double ratio, Tick tick, Answers answers) {
    long price = windows.lastPrice[leg - 1];
    long shares = books.balance[number] / (LOT * price) * LOT;
    if (shares == 0) {
      return;
    }
    books.balance[number] -= shares * price;
    books.owned[number] = leg;
    books.shares[number] = shares;
    books.entryRatio[number] = ratio;
    order(number, "BUY", leg, shares, tick, answers);
  }

  private void order(int number, String type, int leg, long shares, Tick tick, Answers answers) {
    Strategy strategy = pair.strategies[number];
    int price = windows.lastPrice[leg - 1];
    answers.order(strategy, books.answers[number]++, type, strategy.symbol(leg), price, shares, tick);
  }

  private void closeMarket(Tick tick, Answers answers) {
    for (int number = 0; number < pair.strategies.length; number++) {
      sell(number, tick, answers);
    }
    windows.closed = true;
  }
}
