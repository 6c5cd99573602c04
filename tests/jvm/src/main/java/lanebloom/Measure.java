// Measures Guava, Cassandra and Hudi: FORMAT FILTER KEYS prints the best of 40 rounds, in ns per
// key. The keys are the lines of a file.
// SPDX-License-Identifier: MIT
package lanebloom;

import com.google.common.hash.Guava;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.IntPredicate;
import java.util.function.Predicate;
import org.apache.cassandra.utils.Cassandra;
import org.apache.hudi.common.bloom.BloomFilter;
import org.apache.hudi.common.bloom.BloomFilterFactory;

public final class Measure {
  private Measure() {}

  // Hudi takes keys as strings, and makes their UTF-8 itself.
  private static IntPredicate hudi(Path filter, byte[][] keys) throws Exception {
    BloomFilter opened = BloomFilterFactory.fromString(Files.readString(filter).trim(), "SIMPLE");
    String[] texts = new String[keys.length];
    for (int i = 0; i < keys.length; i++) texts[i] = new String(keys[i], StandardCharsets.UTF_8);
    return i -> opened.mightContain(texts[i]);
  }

  private static IntPredicate open(String format, Path filter, byte[][] keys) throws Exception {
    if (format.equals("hudi")) return hudi(filter, keys);
    Predicate<byte[]> may =
        format.startsWith("guava") ? Guava.open(filter) : Cassandra.open(format, filter);
    return i -> may.test(keys[i]);
  }

  public static void main(String[] args) throws Exception {
    byte[][] keys = Filters.lines(Path.of(args[2])).toArray(new byte[0][]);
    IntPredicate may = open(args[0], Path.of(args[1]), keys);
    double best = Double.MAX_VALUE;
    long nhits = 0;
    for (int round = 0; round < 40; round++) {
      long begin = System.nanoTime();
      for (int i = 0; i < keys.length; i++) nhits += may.test(i) ? 1 : 0;
      best = Math.min(best, (double) (System.nanoTime() - begin) / keys.length);
    }
    if (nhits > 40L * keys.length) throw new AssertionError(); // so that the hits are used
    System.out.printf("%.2f%n", best);
  }
}
