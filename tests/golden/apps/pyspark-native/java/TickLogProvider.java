package pairs.spark;

import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** A tick log as a streaming source, a row a tick: {@code spark.readStream.format("pairs.spark.TickLogProvider")}. */
public final class TickLogProvider implements TableProvider {
  static final StructType SCHEMA =
      new StructType()
          .add("seq", DataTypes.LongType)
          .add("symbol", DataTypes.StringType)
          .add("price", DataTypes.IntegerType)
          .add("size", DataTypes.IntegerType)
          .add("tickTS", DataTypes.LongType)
          .add("TS", DataTypes.LongType);

  @Override
  public StructType inferSchema(CaseInsensitiveStringMap options) {
    return SCHEMA;
  }

  @Override
  public Table getTable(StructType schema, Transform[] partitioning, Map<String, String> properties) {
    CaseInsensitiveStringMap options = new CaseInsensitiveStringMap(properties);
    return new TickLogTable(
        options.get("path"), options.getLong("maxTicksPerBatch", 0), options.getInt("partitions", 1));
  }

  private record TickLogTable(String folder, long mostTicks, int partitions) implements Table, SupportsRead {
    @Override
    public String name() {
      return folder;
    }

    @Override
    public StructType schema() {
      return SCHEMA;
    }

    @Override
    public Set<TableCapability> capabilities() {
      return Set.of(TableCapability.MICRO_BATCH_READ);
    }

    @Override
    public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
      return () -> new TickLogScan(folder, mostTicks, partitions);
    }
  }

  private record TickLogScan(String folder, long mostTicks, int partitions) implements Scan {
    @Override
    public StructType readSchema() {
      return SCHEMA;
    }

    @Override
    public MicroBatchStream toMicroBatchStream(String checkpoint) {
      return new TickLogStream(folder, mostTicks, partitions);
    }
  }
}
