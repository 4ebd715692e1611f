package pairs.spark;

/** What a pair sees: a window as it grows or, if it is of the clock, the tick that began a pane. */
public class WindowRow {
  private int pair;
  private boolean clock;
  private Long periodMs; // of a window
  private long startMs; // of the window or the pane
  private Double ratio; // of the average prices in the window so far; null if a symbol did not trade
  private Integer price1; // the last in the window so far
  private Integer price2;
  private int leg; // of the tick that began the pane; 0: not of this pair
  private int price;
  private long tickTS; // of the first tick in it
  private long ts;
  private long seq; // of the last tick in it

  public int getPair() {
    return pair;
  }

  public void setPair(int pair) {
    this.pair = pair;
  }

  public boolean isClock() {
    return clock;
  }

  public void setClock(boolean clock) {
    this.clock = clock;
  }

  public Long getPeriodMs() {
    return periodMs;
  }

  public void setPeriodMs(Long periodMs) {
    this.periodMs = periodMs;
  }

  public long getStartMs() {
    return startMs;
  }

  public void setStartMs(long startMs) {
    this.startMs = startMs;
  }

  public Double getRatio() {
    return ratio;
  }

  public void setRatio(Double ratio) {
    this.ratio = ratio;
  }

  public Integer getPrice1() {
    return price1;
  }

  public void setPrice1(Integer price1) {
    this.price1 = price1;
  }

  public Integer getPrice2() {
    return price2;
  }

  public void setPrice2(Integer price2) {
    this.price2 = price2;
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

  public long getSeq() {
    return seq;
  }

  public void setSeq(long seq) {
    this.seq = seq;
  }
}
