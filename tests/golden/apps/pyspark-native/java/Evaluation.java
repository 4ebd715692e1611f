package pairs.spark;

/** An indicator with its signals, or the bell, for one strategy. */
public class Evaluation {
  private String strategy;
  private String symbol1;
  private String symbol2;
  private double stopLoss;
  private long fundsCents;
  private Double ratio;
  private Double avgRatio; // null if there is no indicator
  private Double upperBand;
  private Double lowerBand;
  private boolean up;
  private boolean down;
  private int price1;
  private int price2;
  private boolean bell;
  private long tickTS;
  private long ts;

  /** The last price of leg 1 or 2. */
  int price(int leg) {
    return leg == 1 ? price1 : price2;
  }

  String symbol(int leg) {
    return leg == 1 ? symbol1 : symbol2;
  }

  public String getStrategy() {
    return strategy;
  }

  public void setStrategy(String strategy) {
    this.strategy = strategy;
  }

  public String getSymbol1() {
    return symbol1;
  }

  public void setSymbol1(String symbol1) {
    this.symbol1 = symbol1;
  }

  public String getSymbol2() {
    return symbol2;
  }

  public void setSymbol2(String symbol2) {
    this.symbol2 = symbol2;
  }

  public double getStopLoss() {
    return stopLoss;
  }

  public void setStopLoss(double stopLoss) {
    this.stopLoss = stopLoss;
  }

  public long getFundsCents() {
    return fundsCents;
  }

  public void setFundsCents(long fundsCents) {
    this.fundsCents = fundsCents;
  }

  public Double getRatio() {
    return ratio;
  }

  public void setRatio(Double ratio) {
    this.ratio = ratio;
  }

  public Double getAvgRatio() {
    return avgRatio;
  }

  public void setAvgRatio(Double avgRatio) {
    this.avgRatio = avgRatio;
  }

  public Double getUpperBand() {
    return upperBand;
  }

  public void setUpperBand(Double upperBand) {
    this.upperBand = upperBand;
  }

  public Double getLowerBand() {
    return lowerBand;
  }

  public void setLowerBand(Double lowerBand) {
    this.lowerBand = lowerBand;
  }

  public boolean isUp() {
    return up;
  }

  public void setUp(boolean up) {
    this.up = up;
  }

  public boolean isDown() {
    return down;
  }

  public void setDown(boolean down) {
    this.down = down;
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
