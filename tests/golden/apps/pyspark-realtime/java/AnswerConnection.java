package pairs;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A connection to the sink that sends answers as rows of 64 bytes: first all names, then rows that refer to them. */
public final class AnswerConnection {
  private static final byte[] MAGIC = {'P', 'A', 'I', 'R', 'S', 0, 0, 3};
  private static final int ROW_BYTES = 64;
  private static final int INDICATOR = 0;
  private static final int BUY = 1;
  private static final int SELL = 2;

  private final SocketChannel channel;
  private final Map<String, Integer> names = new HashMap<>();
  private final ByteBuffer rows = ByteBuffer.allocateDirect(1024 * ROW_BYTES).order(ByteOrder.LITTLE_ENDIAN);

  public AnswerConnection(String host, int port, Market market) throws IOException {
    channel = SocketChannel.open(new InetSocketAddress(host, port));
    channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
    sendNames(market.pairs());
  }

  private void sendNames(List<Pair> pairs) throws IOException {
    Set<String> all = new LinkedHashSet<>();
    for (Pair pair : pairs) {
      all.add(pair.symbol(1));
      all.add(pair.symbol(2));
      for (Strategy strategy : pair.strategies) {
        all.add(strategy.alias());
      }
    }
    ByteArrayOutputStream text = new ByteArrayOutputStream();
    for (String name : all) {
      byte[] letters = name.getBytes(StandardCharsets.UTF_8);
      text.write(letters.length & 0xFF);
      text.write(letters.length >> 8);
      text.write(letters);
      names.put(name, names.size());
    }
    ByteBuffer message = ByteBuffer.allocate(MAGIC.length + 2 * Integer.BYTES + text.size());
    message.order(ByteOrder.LITTLE_ENDIAN).put(MAGIC).putInt(all.size()).putInt(text.size()).put(text.toByteArray());
    write(message);
  }

  public void indicator(
      String strategy, long number, double ratio, double average, double upper, double lower, long tickTS, long ts)
      throws IOException {
    begin(INDICATOR, strategy, number, tickTS, ts);
    rows.putDouble(ratio).putDouble(average).putDouble(upper).putDouble(lower);
  }

  public void order(
      String strategy, long number, String type, String symbol, long price, long size, long tickTS, long ts)
      throws IOException {
    begin(type.equals("BUY") ? BUY : SELL, strategy, number, tickTS, ts);
    rows.putLong(names.get(symbol)).putLong(price).putLong(size).putLong(0);
  }

  private void begin(int kind, String strategy, long number, long tickTS, long ts) throws IOException {
    if (!rows.hasRemaining()) {
      flush();
    }
    rows.putInt(kind).putInt(names.get(strategy)).putLong(number).putLong(tickTS).putLong(ts);
  }

  /** Send what is buffered. */
  public void flush() throws IOException {
    write(rows);
    rows.clear();
  }

  private void write(ByteBuffer message) throws IOException {
    message.flip();
    while (message.hasRemaining()) {
      channel.write(message);
    }
  }

  /** Break the connection off: what is buffered is not sent. */
  public void close() {
    try {
      channel.close();
    } catch (IOException alreadyBroken) {
      // then there is nothing to close
    }
  }
}
