package pairs.spark;

import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TimeMode;
import pairs.Market;

/** The part of the plan that is Java: its two operators with a state that streaming SQL has none for. */
public final class NativePlan {
  private NativePlan() {}

  /** Return what closes, with the last ratios of the pair. */
  public static Dataset<Row> closings(Dataset<?> rows, Market market, int mostRatios) {
    return rows.as(Encoders.bean(WindowRow.class))
        .groupBy("pair")
        .as(Encoders.INT(), Encoders.bean(WindowRow.class))
        .transformWithState(
            new WindowCloser(market, mostRatios), TimeMode.None(), OutputMode.Update(), Encoders.bean(Closing.class))
        .toDF();
  }

  /** Return indicators and orders. */
  public static Dataset<Answer> answers(Dataset<?> evaluations) {
    return evaluations
        .groupBy("strategy")
        .as(Encoders.STRING(), Encoders.bean(Evaluation.class))
        .transformWithState(new Trader(), TimeMode.None(), OutputMode.Update(), Encoders.bean(Answer.class));
  }
}
