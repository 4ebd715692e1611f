package pairs.spark;

/** A tick as a row of the stream, as far as strategies need it. */
public class TickRow {
  private long seq;
  private String symbol;
  private int price;
  private long tickTS;
  private long ts;

  public long getSeq() {
    return seq;
  }

  public void setSeq(long seq) {
    this.seq = seq;
  }

  public String getSymbol() {
    return symbol;
  }

  public void setSymbol(String symbol) {
    this.symbol = symbol;
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
