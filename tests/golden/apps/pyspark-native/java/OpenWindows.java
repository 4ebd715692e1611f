package pairs.spark;

import java.util.Arrays;

/** The present window of each period of a pair, and its last prices: state that changes with every row. */
public class OpenWindows {
  private static final long NONE = -1;

  private long[] startMs = {}; // of each period; -1: no window has been seen since the last one closed
  private double[] ratio = {}; // NaN: a symbol has not traded
  private int[] price = {}; // the last in the window: of each period first that of leg 1, then that of leg 2
  private int[] lastPrice = new int[2]; // of each leg, in any window
  private boolean closed; // the market

  public OpenWindows() {} // for encoders

  OpenWindows(int periods) {
    startMs = new long[periods];
    ratio = new double[periods];
    price = new int[2 * periods];
    Arrays.fill(startMs, NONE);
  }

  /** Note how far a window has grown. */
  void grow(int period, WindowRow window) {
    startMs[period] = window.getStartMs();
    ratio[period] = window.getRatio() == null ? Double.NaN : window.getRatio();
    note(period, 1, window.getPrice1());
    note(period, 2, window.getPrice2());
  }

  private void note(int period, int leg, Integer last) {
    if (last != null) {
      price[2 * period + leg - 1] = last;
      lastPrice[leg - 1] = last;
    }
  }

  /** Whether a window of this period is open that ends at this time or before. */
  boolean hasEnded(int period, long lengthMs, long nowMs) {
    return startMs[period] != NONE && startMs[period] + lengthMs <= nowMs;
  }

  /** Close a window; return its ratio, NaN if it has none. */
  double close(int period) {
    startMs[period] = NONE;
    return ratio[period];
  }

  /** The last price of a leg in a window that has a ratio. */
  int price(int period, int leg) {
    return price[2 * period + leg - 1];
  }

  /** The last price of a leg. */
  int lastPrice(int leg) {
    return lastPrice[leg - 1];
  }

  public long[] getStartMs() {
    return startMs;
  }

  public void setStartMs(long[] startMs) {
    this.startMs = startMs;
  }

  public double[] getRatio() {
    return ratio;
  }

  public void setRatio(double[] ratio) {
    this.ratio = ratio;
  }

  public int[] getPrice() {
    return price;
  }

  public void setPrice(int[] price) {
    this.price = price;
  }

  public int[] getLastPrice() {
    return lastPrice;
  }

  public void setLastPrice(int[] lastPrice) {
    this.lastPrice = lastPrice;
  }

  public boolean isClosed() {
    return closed;
  }

  public void setClosed(boolean closed) {
    this.closed = closed;
  }
}
