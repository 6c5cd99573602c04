// Measures Guava and Cassandra: FORMAT FILTER KEYS prints the best of 40 rounds, in ns per key. The
// keys are the lines of a file.
// SPDX-License-Identifier: MIT
package lanebloom;

import com.google.common.hash.Guava;
import java.nio.file.Path;
import java.util.function.Predicate;
import org.apache.cassandra.utils.Cassandra;

public final class Measure {
  private Measure() {}

  public static void main(String[] args) throws Exception {
    Path filter = Path.of(args[1]);
    Predicate<byte[]> may =
        args[0].startsWith("guava") ? Guava.open(filter) : Cassandra.open(args[0], filter);
    byte[][] keys = Filters.lines(Path.of(args[2])).toArray(new byte[0][]);
    double best = Double.MAX_VALUE;
    long nhits = 0;
    for (int round = 0; round < 40; round++) {
      long begin = System.nanoTime();
      for (byte[] key : keys) nhits += may.test(key) ? 1 : 0;
      best = Math.min(best, (double) (System.nanoTime() - begin) / keys.length);
    }
    if (nhits > 40L * keys.length) throw new AssertionError(); // so that the hits are used
    System.out.printf("%.2f%n", best);
  }
}
