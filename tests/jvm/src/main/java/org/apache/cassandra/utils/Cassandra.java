// Cassandra's filters: those of its own version, and those of versions 3.0 to 3.11, which it reads.
// SPDX-License-Identifier: MIT
package org.apache.cassandra.utils;

import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Predicate;
import org.apache.cassandra.io.util.DataInputBuffer;
import org.apache.cassandra.io.util.WrappedDataOutputStreamPlus;
import org.apache.cassandra.utils.obs.OffHeapBitSet;

public final class Cassandra {
  private Cassandra() {}

  private static boolean isOld(String kind) {
    return kind.equals("cassandra-3");
  }

  private static IFilter.FilterKey hashed(byte[] key) {
    return dest -> MurmurHash.hash3_x64_128(ByteBuffer.wrap(key), 0, key.length, 0, dest);
  }

  public static void write(String kind, long n, double rate, List<byte[]> keys, Path to)
      throws Exception {
    BloomFilter filter = (BloomFilter) FilterFactory.getFilter(n, rate);
    for (byte[] key : keys) filter.add(hashed(key));
    try (var out = new WrappedDataOutputStreamPlus(Files.newOutputStream(to))) {
      if (isOld(kind)) { // what serialize() did until 3.11
        out.writeInt(filter.hashCount);
        ((OffHeapBitSet) filter.bitset).serializeOldBfFormat(out);
      } else {
        filter.serialize(out, false);
      }
    }
  }

  public static Predicate<byte[]> open(String kind, Path from) throws Exception {
    try (var in = new DataInputBuffer(Files.readAllBytes(from))) {
      IFilter filter = BloomFilterSerializer.forVersion(isOld(kind)).deserialize(in);
      return key -> filter.isPresent(hashed(key));
    }
  }
}
