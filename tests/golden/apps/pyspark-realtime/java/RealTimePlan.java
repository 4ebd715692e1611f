package pairs.spark;

import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoder;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TimeMode;
import pairs.Market;

/** The part of the plan that is Java, because real-time mode has no Python operators; app.py calls it. */
public final class RealTimePlan {
  private RealTimePlan() {}

  /** Return the answers to a stream of ticks; `held` says whether state is written when a batch ends. */
  public static Dataset<Answer> answers(Dataset<?> ticks, Market market, boolean held) {
    Encoder<RoutedTick> routed = Encoders.bean(RoutedTick.class);
    return ticks
        .select("seq", "symbol", "price", "tickTS", "TS")
        .as(Encoders.bean(TickRow.class))
        .mapPartitions(new Router(market, held), routed)
        .groupBy("pair")
        .as(Encoders.INT(), routed)
        .transformWithState(
            new Traders(market, held), TimeMode.None(), OutputMode.Update(), Encoders.bean(Answer.class));
  }
}
