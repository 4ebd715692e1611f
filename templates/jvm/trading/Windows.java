package pairs;

import java.util.Arrays;

/** What a pair knows of its present windows, one for each period: a part of its state, changed by every tick. */
public class Windows {
  int[] lastPrice = new int[2]; // of each leg
  long[] end = {}; // of each period
  long[] ticks = {}; // of each period, first those of leg 1, then those of leg 2
  long[] total = {}; // of their prices
  boolean closed; // the market

  public Windows() {} // for encoders

  Windows(Pair pair) {
    end = pair.periodsMs.clone();
    ticks = new long[2 * end.length];
    total = new long[2 * end.length];
  }

  void add(int leg, int price) {
    for (int place = leg - 1; place < ticks.length; place += 2) {
      ticks[place]++;
      total[place] += price;
    }
  }

  /** Return the ratio of the average prices in a window and empty it; NaN if a symbol did not trade. */
  double takeRatio(int period) {
    int first = 2 * period;
    int second = first + 1;
    boolean traded = ticks[first] > 0 && ticks[second] > 0;
    double ratio =
        traded
            ? ((double) total[first] / ticks[first]) / ((double) total[second] / ticks[second])
            : Double.NaN;
    Arrays.fill(ticks, first, second + 1, 0);
    Arrays.fill(total, first, second + 1, 0);
    return ratio;
  }

  public int[] getLastPrice() {
    return lastPrice;
  }

  public void setLastPrice(int[] lastPrice) {
    this.lastPrice = lastPrice;
  }

  public long[] getEnd() {
    return end;
  }

  public void setEnd(long[] end) {
    this.end = end;
  }

  public long[] getTicks() {
    return ticks;
  }

  public void setTicks(long[] ticks) {
    this.ticks = ticks;
  }

  public long[] getTotal() {
    return total;
  }

  public void setTotal(long[] total) {
    this.total = total;
  }

  public boolean isClosed() {
    return closed;
  }

  public void setClosed(boolean closed) {
    this.closed = closed;
  }
}
