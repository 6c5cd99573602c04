// Measures Guava and Cassandra: FORMAT FILTER WIDTH prints the best of 40 rounds, in ns per key. The
// keys are random bytes, 65536 of this width.
// SPDX-License-Identifier: MIT
package lanebloom;

import com.google.common.hash.Guava;
import java.nio.file.Path;
import java.util.Random;
import java.util.function.Predicate;
import org.apache.cassandra.utils.Cassandra;

public final class Measure {
  private Measure() {}

  public static void main(String[] args) throws Exception {
    Path filter = Path.of(args[1]);
    Predicate<byte[]> may =
        args[0].startsWith("guava") ? Guava.open(filter) : Cassandra.open(args[0], filter);
    byte[][] keys = new byte[65536][Integer.parseInt(args[2])];
    Random random = new Random(1);
    for (byte[] key : keys) random.nextBytes(key);
    double best = Double.MAX_VALUE;
    long nhits = 0;
    for (int round = 0; round < 40; round++) {
      long begin = System.nanoTime();
      for (byte[] key : keys) nhits += may.test(key) ? 1 : 0;
      best = Math.min(best, (double) (System.nanoTime() - begin) / keys.length);
    }
    System.out.printf("%.1f %.2f%n", best, (double) nhits / keys.length / 40);
  }
}
