package pairs;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** All strategies by pair, and when the market closes. Sent to executors as the text of strategies.csv. */
public final class Market implements Serializable {
  private static Market latest; // tasks of one program share it

  private final String strategies;
  private final long closeMs;
  private final transient List<Pair> pairs = new ArrayList<>();

  private Market(String strategies, long closeMs) {
    this.strategies = strategies;
    this.closeMs = closeMs;
    Map<List<String>, List<Strategy>> bySymbols = new LinkedHashMap<>();
    List<String[]> rows = Csv.rows(strategies);
    for (String[] row : rows.subList(1, rows.size())) {
      Strategy strategy = Strategy.of(row);
      List<String> symbols = List.of(strategy.symbol1(), strategy.symbol2());
      bySymbols.computeIfAbsent(symbols, unknown -> new ArrayList<>()).add(strategy);
    }
    bySymbols.values().forEach(members -> pairs.add(new Pair(members)));
  }

  public static synchronized Market of(String strategies, long closeMs) {
    if (latest == null || latest.closeMs != closeMs || !latest.strategies.equals(strategies)) {
      latest = new Market(strategies, closeMs);
    }
    return latest;
  }

  private Object readResolve() {
    return of(strategies, closeMs);
  }

  public List<Pair> pairs() {
    return pairs;
  }

  public long closeMs() {
    return closeMs;
  }
}
