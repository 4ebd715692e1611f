package pairs.spark;

import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoder;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.ForeachWriter;
import org.apache.spark.sql.streaming.DataStreamWriter;
import org.apache.spark.sql.streaming.OutputMode;
import org.apache.spark.sql.streaming.TimeMode;
import pairs.Market;

/** The part of the plan that is Java, because real-time mode has no Python operators; app.py calls it. */
public final class RealTimePlan {
  private RealTimePlan() {}

  /** Return the strategies, by the text of their table. */
  public static Market market(String strategies, long closeMs) {
    return Market.of(strategies, closeMs);
  }

  /** Return the answers to a stream of ticks; `held` says whether state is written when a batch ends. */
  public static Dataset<Answer> answers(Dataset<?> ticks, Market market, boolean held) {
    Encoder<RoutedTick> routed = Encoders.bean(RoutedTick.class);
    return ticks
        .select("symbol", "price", "tickTS", "TS")
        .as(Encoders.bean(TickRow.class))
        .mapPartitions(new Router(market, held), routed)
        .groupBy("pair")
        .as(Encoders.INT(), routed)
        .transformWithState(
            new Traders(market, held), TimeMode.None(), OutputMode.Update(), Encoders.bean(Answer.class));
  }

  /** Return what writes answers to the sink of a run. */
  public static DataStreamWriter<Answer> toSink(
      Dataset<Answer> answers, String host, int port, Market market) {
    return answers.writeStream().foreach(new AnswerWriter(host, port, market));
  }

  /** Return what drops answers: nobody waits for them while Spark is warmed up. */
  public static DataStreamWriter<Answer> toNowhere(Dataset<Answer> answers) {
    return answers.writeStream().foreach(new Dropped());
  }

  private static final class Dropped extends ForeachWriter<Answer> {
    @Override
    public boolean open(long partition, long batch) {
      return true;
    }

    @Override
    public void process(Answer answer) {}

    @Override
    public void close(Throwable error) {}
  }
}
