package pairs;

import java.util.Arrays;

/** What the strategies of a pair know, an entry for each: a part of its state, changed when windows close. */
public class Books {
  double[] ratios = {}; // the last of each strategy, in a ring of numPeriods places, one ring behind the other
  long[] ratiosSeen = {};
  boolean[] above = {}; // whether the last ratio was at or above the upper band
  boolean[] below = {};
  int[] owned = {}; // leg 1 or 2; 0: nothing
  long[] shares = {};
  long[] balance = {}; // cents
  double[] entryRatio = {}; // at which the position was taken
  long[] answers = {}; // given so far

  public Books() {} // for encoders

  Books(Pair pair) {
    int count = pair.strategies.length;
    ratios = new double[pair.firstRatio[count]];
    ratiosSeen = new long[count];
    above = new boolean[count];
    below = new boolean[count];
    Arrays.fill(above, true); // the first indicator is no signal
    Arrays.fill(below, true);
    owned = new int[count];
    shares = new long[count];
    balance = Arrays.stream(pair.strategies).mapToLong(Strategy::fundsCents).toArray();
    entryRatio = new double[count];
    answers = new long[count];
  }

  public double[] getRatios() {
    return ratios;
  }

  public void setRatios(double[] ratios) {
    this.ratios = ratios;
  }

  public long[] getRatiosSeen() {
    return ratiosSeen;
  }

  public void setRatiosSeen(long[] ratiosSeen) {
    this.ratiosSeen = ratiosSeen;
  }

  public boolean[] getAbove() {
    return above;
  }

  public void setAbove(boolean[] above) {
    this.above = above;
  }

  public boolean[] getBelow() {
    return below;
  }

  public void setBelow(boolean[] below) {
    this.below = below;
  }

  public int[] getOwned() {
    return owned;
  }

  public void setOwned(int[] owned) {
    this.owned = owned;
  }

  public long[] getShares() {
    return shares;
  }

  public void setShares(long[] shares) {
    this.shares = shares;
  }

  public long[] getBalance() {
    return balance;
  }

  public void setBalance(long[] balance) {
    this.balance = balance;
  }

  public double[] getEntryRatio() {
    return entryRatio;
  }

  public void setEntryRatio(double[] entryRatio) {
    this.entryRatio = entryRatio;
  }

  public long[] getAnswers() {
    return answers;
  }

  public void setAnswers(long[] answers) {
    this.answers = answers;
  }
}
