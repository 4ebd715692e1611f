package pairs;

import java.util.ArrayList;
import java.util.List;

/** Reads a table as Python's csv module writes it: values with commas, quotes or newlines are quoted. */
final class Csv {
  private Csv() {}

  static List<String[]> rows(String text) {
    List<String[]> rows = new ArrayList<>();
    List<String> row = new ArrayList<>();
    StringBuilder value = new StringBuilder();
    boolean quoted = false;
    for (int place = 0; place < text.length(); place++) {
      char letter = text.charAt(place);
      if (letter == '"') {
        boolean doubled = quoted && place + 1 < text.length() && text.charAt(place + 1) == '"';
        if (doubled) {
          value.append(text.charAt(++place));
        } else {
          quoted = !quoted;
        }
      } else if (quoted || letter != ',' && letter != '\n') {
        value.append(letter);
      } else {
        row.add(value.toString());
        value.setLength(0);
        if (letter == '\n') {
          rows.add(row.toArray(String[]::new));
          row.clear();
        }
      }
    }
    return rows;
  }
}
