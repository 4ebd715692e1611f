package pairs.spark;

import pairs.Tick;

/** A tick on its way to a pair, or the mark that ends a batch. */
public class RoutedTick {
  private static final int MARK = -1;

  private int pair;
  private int leg;
  private int price;
  private long tickTS;
  private long ts;

  void set(int pair, int leg, TickRow tick) {
    this.pair = pair;
    this.leg = leg;
    this.price = tick.getPrice();
    this.tickTS = tick.getTickTS();
    this.ts = tick.getTS();
  }

  void setMark(int pair) {
    this.pair = pair;
    this.leg = MARK;
  }

  boolean isEndOfBatch() {
    return leg == MARK;
  }

  Tick tick() {
    return new Tick(leg, price, tickTS, ts);
  }

  public int getPair() {
    return pair;
  }

  public void setPair(int pair) {
    this.pair = pair;
  }

  public int getLeg() {
    return leg;
  }

  public void setLeg(int leg) {
    this.leg = leg;
  }

  public int getPrice() {
    return price;
  }

  public void setPrice(int price) {
    this.price = price;
  }

  public long getTickTS() {
    return tickTS;
  }

  public void setTickTS(long tickTS) {
    this.tickTS = tickTS;
  }

  public long getTS() {
    return ts;
  }

  public void setTS(long ts) {
    this.ts = ts;
  }
}
