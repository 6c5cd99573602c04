// Writes and queries filters whose keys are the lines of a file:
//   write FORMAT N RATE KEYS FILTER   adds the lines of KEYS to a new filter, for N keys
//   ask FORMAT FILTER KEYS ANSWERS    writes the lines of KEYS that may be in the filter
// SPDX-License-Identifier: MIT
package lanebloom;

import com.google.common.hash.Guava;
import java.io.BufferedOutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;
import org.apache.cassandra.utils.Cassandra;

public final class Filters {
  private Filters() {}

  static List<byte[]> lines(Path path) throws Exception {
    byte[] bytes = Files.readAllBytes(path);
    List<byte[]> lines = new ArrayList<>();
    for (int first = 0, i = 0; i < bytes.length; i++)
      if (bytes[i] == '\n') {
        lines.add(Arrays.copyOfRange(bytes, first, i));
        first = i + 1;
      }
    return lines;
  }

  public static void main(String[] args) throws Exception {
    String kind = args[1];
    boolean isGuava = kind.startsWith("guava");
    if (args[0].equals("write")) {
      long n = Long.parseLong(args[2]);
      double rate = Double.parseDouble(args[3]);
      List<byte[]> keys = lines(Path.of(args[4]));
      if (isGuava) Guava.write(kind, n, rate, keys, Path.of(args[5]));
      else Cassandra.write(kind, n, rate, keys, Path.of(args[5]));
      return;
    }
    Path filter = Path.of(args[2]);
    Predicate<byte[]> may = isGuava ? Guava.open(filter) : Cassandra.open(kind, filter);
    try (var out = new BufferedOutputStream(Files.newOutputStream(Path.of(args[4])))) {
      for (byte[] key : lines(Path.of(args[3])))
        if (may.test(key)) {
          out.write(key);
          out.write('\n');
        }
    }
  }
}
