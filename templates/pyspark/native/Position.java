package pairs.spark;

/** What a strategy owns, and what is left of its funds: its state. */
public class Position {
  private int owned; // leg 1 or 2; 0: nothing
  private long shares;
  private long balance; // cents
  private double entryRatio; // at which the position was taken

  public Position() {} // for encoders

  Position(long balance) {
    this.balance = balance;
  }

  public int getOwned() {
    return owned;
  }

  public void setOwned(int owned) {
    this.owned = owned;
  }

  public long getShares() {
    return shares;
  }

  public void setShares(long shares) {
    this.shares = shares;
  }

  public long getBalance() {
    return balance;
  }

  public void setBalance(long balance) {
    this.balance = balance;
  }

  public double getEntryRatio() {
    return entryRatio;
  }

  public void setEntryRatio(double entryRatio) {
    this.entryRatio = entryRatio;
  }
}
