package pairs.spark;

import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.apache.spark.SparkContext;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.api.plugin.SparkPlugin;

/**
 * Tells the driver how far the stream is read, and whether tasks have anything to do: a plugin of Spark. A batch lasts
 * minutes, and Spark itself tells of it only when it ends.
 */
public final class TicksRead implements SparkPlugin {
  private static final long EVERY_MS = 250;
  private static final AtomicLong READ = new AtomicLong(); // up to this tick, by the router of this executor
  private static final LongAdder HANDLED = new LongAdder(); // calls of operators with state on this executor
  private static final AtomicLong TOLD = new AtomicLong(); // to this driver
  private static volatile long activeNs = System.nanoTime(); // when an executor last told this driver of any of it

  /** How many ticks of the stream are read, as far as the driver knows; after a restart this goes back. */
  public static long told() {
    return TOLD.get();
  }

  /** For how long no task has had anything to do, as far as the driver knows. */
  public static double idleSeconds() {
    return (System.nanoTime() - activeNs) / 1e9;
  }

  /** Forget what was read while Spark was warmed up. */
  public static void reset() {
    READ.set(0);
    TOLD.set(0);
  }

  static void set(long ticks) {
    READ.lazySet(ticks);
  }

  static void handled() {
    HANDLED.increment();
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
        activeNs = System.nanoTime();
        if ((Long) ticks > 0) { // only one executor has the router
          TOLD.set((Long) ticks);
        }
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
    private long lastRead;
    private long lastHandled;

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
      long handled = HANDLED.sum();
      if (read != lastRead || handled != lastHandled) {
        lastRead = read;
        lastHandled = handled;
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
