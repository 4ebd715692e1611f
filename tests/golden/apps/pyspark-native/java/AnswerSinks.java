package pairs.spark;

import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.ForeachWriter;
import org.apache.spark.sql.streaming.DataStreamWriter;
import pairs.Market;

/** Where answers go, without a way through Python; programs call it. */
public final class AnswerSinks {
  private AnswerSinks() {}

  /** Return what writes answers to the sink of a run. */
  public static DataStreamWriter<Answer> toSink(Dataset<Answer> answers, String host, int port, Market market) {
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
