package pairs;

/** Where the strategies of a pair send their answers. The number counts the answers of a strategy from 0. */
public interface Answers {
  /** Called for every window after which a strategy knows enough ratios. */
  void indicator(
      Strategy strategy, long number, double ratio, double average, double upperBand, double lowerBand, Tick trigger);

  /** Called for every purchase (BUY) and sale (SELL). */
  void order(Strategy strategy, long number, String type, String symbol, int price, long size, Tick trigger);
}
