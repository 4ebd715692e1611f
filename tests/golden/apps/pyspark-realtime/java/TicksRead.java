package pairs.spark;

import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.spark.SparkContext;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.api.plugin.SparkPlugin;

/**
 * Tells the driver how many ticks of the present batch are read: a plugin of Spark. A batch lasts minutes, and Spark
 * itself tells of it only when it ends.
 */
public final class TicksRead implements SparkPlugin {
  private static final long EVERY_MS = 250;
  private static final AtomicLong READ = new AtomicLong(); // by the router of this executor
  private static final AtomicLong TOLD = new AtomicLong(); // to this driver

  /** How many ticks of the present batch are read, as far as the driver knows. */
  public static long told() {
    return TOLD.get();
  }

  static void set(long ticks) {
    READ.lazySet(ticks);
  }

  @Override
  public DriverPlugin driverPlugin() {
    return new DriverPlugin() {
      @Override
      public Map<String, String> init(SparkContext context, PluginContext pluginContext) {
        return Map.of();
      }

      @Override
      public Object receive(Object ticks) {
        TOLD.set((Long) ticks);
        return null;
      }
    };
  }

  @Override
  public ExecutorPlugin executorPlugin() {
    return new Teller();
  }

  private static final class Teller implements ExecutorPlugin {
    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(this::thread);
    private long last;

    private Thread thread(Runnable task) {
      Thread thread = new Thread(task, "ticks-read");
      thread.setDaemon(true);
      return thread;
    }

    @Override
    public void init(PluginContext context, Map<String, String> settings) {
      timer.scheduleAtFixedRate(() -> tell(context), EVERY_MS, EVERY_MS, TimeUnit.MILLISECONDS);
    }

    private void tell(PluginContext context) {
      long read = READ.get();
      if (read != last) { // an executor without the router has nothing to tell
        last = read;
        try {
          context.send(read);
        } catch (Exception error) {
          timer.shutdown(); // the driver has ended
        }
      }
    }

    @Override
    public void shutdown() {
      timer.shutdownNow();
    }
  }
}
