package pairs.spark;

/** A window of a pair that has closed with a ratio, or the bell that closes the market. */
public class Closing {
  private int pair;
  private long periodMs;
  private double[] ratios; // the last of the pair, oldest first; null if this window had none
  private int price1; // the last, when the window closed
  private int price2;
  private boolean bell;
  private long tickTS; // of the trigger
  private long ts;

  public int getPair() {
    return pair;
  }

  public void setPair(int pair) {
    this.pair = pair;
  }

  public long getPeriodMs() {
    return periodMs;
  }

  public void setPeriodMs(long periodMs) {
    this.periodMs = periodMs;
  }

  public double[] getRatios() {
    return ratios;
  }

  public void setRatios(double[] ratios) {
    this.ratios = ratios;
  }

  public int getPrice1() {
    return price1;
  }

  public void setPrice1(int price1) {
    this.price1 = price1;
  }

  public int getPrice2() {
    return price2;
  }

  public void setPrice2(int price2) {
    this.price2 = price2;
  }

  public boolean isBell() {
    return bell;
  }

  public void setBell(boolean bell) {
    this.bell = bell;
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
