// Guava's filters. The class is in Guava's package, because only there a strategy can be chosen.
// SPDX-License-Identifier: MIT
package com.google.common.hash;

import java.io.FileInputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Predicate;

public final class Guava {
  private Guava() {}

  public static void write(String kind, long n, double rate, List<byte[]> keys, Path to)
      throws Exception {
    BloomFilter<byte[]> filter =
        BloomFilter.create(
            Funnels.byteArrayFunnel(),
            n,
            rate,
            kind.equals("guava-32")
                ? BloomFilterStrategies.MURMUR128_MITZ_32
                : BloomFilterStrategies.MURMUR128_MITZ_64);
    for (byte[] key : keys) filter.put(key);
    try (OutputStream out = Files.newOutputStream(to)) {
      filter.writeTo(out);
    }
  }

  public static Predicate<byte[]> open(Path from) throws Exception {
    try (InputStream in = new FileInputStream(from.toFile())) {
      return BloomFilter.readFrom(in, Funnels.byteArrayFunnel())::mightContain;
    }
  }
}
