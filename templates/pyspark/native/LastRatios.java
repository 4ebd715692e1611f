package pairs.spark;

import java.util.Arrays;

/** The last ratios of a pair, for each period: state that changes when windows close. A row window, as SQL has it. */
public class LastRatios {
  private double[] ratios = {}; // of one period after the other, as many places for each; the oldest first
  private int[] known = {}; // of each period, at the end of its places

  public LastRatios() {} // for encoders

  LastRatios(int periods, int most) {
    ratios = new double[periods * most];
    known = new int[periods];
  }

  /** Add the ratio of a window, and forget the oldest if there are too many. */
  void add(int period, double ratio) {
    int most = ratios.length / known.length;
    int first = period * most;
    System.arraycopy(ratios, first + 1, ratios, first, most - 1);
    ratios[first + most - 1] = ratio;
    known[period] = Math.min(known[period] + 1, most);
  }

  /** Return the ratios of a period, the oldest first. */
  double[] of(int period) {
    int end = (period + 1) * (ratios.length / known.length);
    return Arrays.copyOfRange(ratios, end - known[period], end);
  }

  public double[] getRatios() {
    return ratios;
  }

  public void setRatios(double[] ratios) {
    this.ratios = ratios;
  }

  public int[] getKnown() {
    return known;
  }

  public void setKnown(int[] known) {
    this.known = known;
  }
}
