package pairs;

import java.util.List;

/** Two symbols and the strategies on them, ordered by period: those of a period share their windows. */
public final class Pair {
  final Strategy[] strategies;
  final long[] periodsMs; // ascending
  final int[] firstOfPeriod; // of `strategies`, and behind the last period their number
  final int[] firstRatio; // place of the ratios of each strategy among those of all, and how many there are

  Pair(List<Strategy> unordered) {
    strategies = unordered.stream().sorted((a, b) -> Long.compare(a.periodMs(), b.periodMs())).toArray(Strategy[]::new);
    periodsMs = unordered.stream().mapToLong(Strategy::periodMs).distinct().sorted().toArray();
    firstOfPeriod = new int[periodsMs.length + 1];
    firstRatio = new int[strategies.length + 1];
    int period = 0;
    for (int number = 0; number < strategies.length; number++) {
      firstRatio[number + 1] = firstRatio[number] + strategies[number].numPeriods();
      if (strategies[number].periodMs() > periodsMs[period]) {
        firstOfPeriod[++period] = number;
      }
    }
    firstOfPeriod[periodsMs.length] = strategies.length;
  }

  public String symbol(int leg) {
    return strategies[0].symbol(leg);
  }

  public long[] periodsMs() {
    return periodsMs;
  }
}
