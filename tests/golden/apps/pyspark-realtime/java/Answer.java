package pairs.spark;

/** An answer as a row: an indicator, or, if it has a type, an order. */
public class Answer {
  private String strategy;
  private long number; // counts the answers of the strategy, and survives a restart
  private Double ratio;
  private Double avgRatio;
  private Double upperBand;
  private Double lowerBand;
  private String type;
  private String symbol;
  private Long price;
  private Long size;
  private long inputTickTS;
  private long inputTS;
  private boolean last; // of the answers of a pair to a tick

  public Answer() {} // for encoders

  private Answer(String strategy, long number, long inputTickTS, long inputTS) {
    this.strategy = strategy;
    this.number = number;
    this.inputTickTS = inputTickTS;
    this.inputTS = inputTS;
  }

  static Answer indicator(
      String strategy, long number, double ratio, double average, double upper, double lower, long tickTS, long ts) {
    Answer answer = new Answer(strategy, number, tickTS, ts);
    answer.ratio = ratio;
    answer.avgRatio = average;
    answer.upperBand = upper;
    answer.lowerBand = lower;
    return answer;
  }

  static Answer order(
      String strategy, long number, String type, String symbol, long price, long size, long tickTS, long ts) {
    Answer answer = new Answer(strategy, number, tickTS, ts);
    answer.type = type;
    answer.symbol = symbol;
    answer.price = price;
    answer.size = size;
    return answer;
  }

  boolean isOrder() {
    return type != null;
  }

  public String getStrategy() {
    return strategy;
  }

  public void setStrategy(String strategy) {
    this.strategy = strategy;
  }

  public long getNumber() {
    return number;
  }

  public void setNumber(long number) {
    this.number = number;
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

  public String getType() {
    return type;
  }

  public void setType(String type) {
    this.type = type;
  }

  public String getSymbol() {
    return symbol;
  }

  public void setSymbol(String symbol) {
    this.symbol = symbol;
  }

  public Long getPrice() {
    return price;
  }

  public void setPrice(Long price) {
    this.price = price;
  }

  public Long getSize() {
    return size;
  }

  public void setSize(Long size) {
    this.size = size;
  }

  public long getInputTickTS() {
    return inputTickTS;
  }

  public void setInputTickTS(long inputTickTS) {
    this.inputTickTS = inputTickTS;
  }

  public long getInputTS() {
    return inputTS;
  }

  public void setInputTS(long inputTS) {
    this.inputTS = inputTS;
  }

  public boolean isLast() {
    return last;
  }

  public void setLast(boolean last) {
    this.last = last;
  }
}
