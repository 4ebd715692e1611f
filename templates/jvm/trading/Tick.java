package pairs;

/**
 * A tick as a pair sees it: leg 1 or 2 if it is of one of its symbols, {@link #CLOCK} if it only shows the time.
 *
 * @param tickTS milliseconds of simulated time
 * @param ts microseconds of wall time at which the tick was due
 */
public record Tick(int leg, int price, long tickTS, long ts) {
  public static final int CLOCK = 0;
}
