package pairs;

/** A strategy as the table of strategies has it; money is in cents, time in milliseconds. */
public record Strategy(
    String alias,
    String symbol1,
    String symbol2,
    long periodMs,
    int numPeriods,
    double bandsMultiplier,
    double stopLoss,
    long fundsCents) {

  static Strategy of(String[] row) {
    return new Strategy(
        row[0],
        row[1],
        row[2],
        Long.parseLong(row[3]),
        Integer.parseInt(row[4]),
        Double.parseDouble(row[5]),
        Double.parseDouble(row[6]),
        Long.parseLong(row[7]));
  }

  /** The symbol of leg 1 or 2. */
  String symbol(int leg) {
    return leg == 1 ? symbol1 : symbol2;
  }
}
