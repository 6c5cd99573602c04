// Writes the filters and answers of Spark's BloomFilter: Make FOLDER SEED. With seed 1 it writes
// the files of tests/vectors/spark, whose README.md describes them. This class is in Spark's
// package because other packages cannot use the hash.
// SPDX-License-Identifier: MIT
package org.apache.spark.util.sketch;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.StringJoiner;

public class Make {
  static final int[] MILLIBITS = {500, 721, 1000, 1443, 2000, 2164, 2885, 5000, 7212, 8000, 8388,
      10000, 12345, 16000, 20001, 30000, 64000, 77777, 95001, 99999, 100000};

  static int headerBytes; // 12 in version 1, 16 in version 2

  // Returns numbers that look random.
  static long state;

  static long number() {
    long z = state += 0x9e3779b97f4a7c15L;
    z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
    return z ^ (z >>> 31);
  }

  static int below(int n) {
    return (int) Long.remainderUnsigned(number(), n);
  }

  static byte[] littleEndian(long value) {
    return ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(value).array();
  }

  static String hex(byte[] bytes) {
    return bytes.length == 0 ? "-" : HexFormat.of().formatHex(bytes);
  }

  static byte[] bytes(int size) {
    byte[] made = new byte[size];
    for (int i = 0; i < size; i++) {
      made[i] = (byte) number();
    }
    return made;
  }

  // Makes a filter as a caller of Spark requests one, with the size that lanebloom plans.
  static BloomFilter create(int millibits, long nkeys) {
    long n = Math.max(1, nkeys);
    return BloomFilter.create(n, Math.max(1, n * millibits / 1000));
  }

  static byte[] written(BloomFilter filter) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    filter.writeTo(out);
    return out.toByteArray();
  }

  // Puts a key in one of the three ways in which Spark takes keys. Returns the bytes of the key.
  static byte[] put(BloomFilter filter, int way) {
    switch (way) {
      case 0:
        byte[] binary = bytes(below(20));
        filter.putBinary(binary);
        return binary;
      case 1:
        long value = number() >> below(64);
        filter.putLong(value);
        return littleEndian(value);
      default:
        String text = "\u00e9\u4e2d\ud83d\ude00 key ".substring(below(6)) + below(1000);
        filter.putString(text);
        return text.getBytes(StandardCharsets.UTF_8);
    }
  }

  static void filters(PrintWriter out) throws IOException {
    out.println("# BloomFilter.writeTo: bits per key, number of keys, filter, keys in order");
    int row = 0;
    for (int millibits : MILLIBITS) {
      for (int n : new int[] {0, 1, 2, 3, 10, 33}) {
        BloomFilter filter = create(millibits, n);
        StringJoiner keys = new StringJoiner(",");
        for (int i = 0; i < n; i++) {
          keys.add(hex(put(filter, row % 3)));
        }
        out.printf("%s %d %s %s%n", millibits / 1000.0, n, hex(written(filter)),
            n == 0 ? "." : keys);
        row++;
      }
    }
  }

  static void hashes(PrintWriter out) {
    out.println("# Murmur3_x86_32.hashUnsafeBytes: key, hash with seed 0, hash with that as seed");
    List<byte[]> keys = new ArrayList<>();
    for (int size = 0; size <= 40; size++) {
      for (int i = 0; i < 4; i++) {
        keys.add(bytes(size));
      }
    }
    for (int size : new int[] {63, 64, 65, 127, 200, 299}) {
      keys.add(bytes(size));
    }
    for (byte[] key : keys) {
      int first = Murmur3_x86_32.hashUnsafeBytes(key, Platform.BYTE_ARRAY_OFFSET, key.length, 0);
      int second =
          Murmur3_x86_32.hashUnsafeBytes(key, Platform.BYTE_ARRAY_OFFSET, key.length, first);
      out.printf("%s %08x %08x%n", hex(key), first, second);
    }
  }

  static void queries(PrintWriter out) throws IOException {
    out.println("# BloomFilter.mightContainBinary: filter, key, answer");
    for (int i = 0; i < 60; i++) {
      int n = 1 + below(20);
      BloomFilter filter = create(500 + below(12000), n);
      List<byte[]> keys = new ArrayList<>();
      for (int k = 0; k < n; k++) {
        keys.add(put(filter, i % 3));
      }
      String bytes = hex(written(filter));
      for (int k = 0; k < 10; k++) {
        byte[] key = k < 3 ? keys.get(below(n)) : bytes(i % 3 == 1 ? 8 : below(20));
        out.printf("%s %s %d%n", bytes, hex(key), filter.mightContainBinary(key) ? 1 : 0);
      }
    }
  }

  // Writes filters with headers that no writer makes, and filters whose payload is cut.
  static void damage(PrintWriter out) throws IOException {
    out.println("# BloomFilter.readFrom of damaged bytes: bytes, key, answer, or E: an exception");
    byte[] key = "key".getBytes(StandardCharsets.UTF_8);
    BloomFilter filter = create(20000, 10);
    filter.putBinary(key);
    byte[] whole = written(filter);
    List<byte[]> cases = new ArrayList<>();
    for (int size = 0; size < whole.length; size += size < headerBytes + 8 ? 1 : 7) {
      cases.add(Arrays.copyOf(whole, size));
    }
    int[] numbers = {0, 1, 2, 3, -1, 255, 1 << 24, Integer.MIN_VALUE, Integer.MIN_VALUE + 1};
    for (int at = 0; at < headerBytes; at += 4) {
      for (int number : numbers) {
        // Spark ignores the words after those that the header counts.
        if (at < headerBytes - 4 || number < 0 || number > 3) {
          byte[] changed = whole.clone();
          ByteBuffer.wrap(changed).putInt(at, number);
          cases.add(changed);
        }
      }
    }
    for (byte[] bytes : cases) {
      for (byte[] asked : new byte[][] {key, "other".getBytes(StandardCharsets.UTF_8)}) {
        String answer;
        try {
          answer = BloomFilter.readFrom(new ByteArrayInputStream(bytes))
              .mightContainBinary(asked) ? "1" : "0";
        } catch (IOException | RuntimeException e) {
          answer = "E";
        }
        out.printf("%s %s %s%n", hex(bytes), hex(asked), answer);
      }
    }
  }

  // Writes the numbers of words and probes in the headers of filters.
  static void plans(PrintWriter out) throws IOException {
    out.println("# BloomFilter.create: bits per key, number of keys, words, probes");
    for (int n : new int[] {0, 1, 2, 3, 5, 7, 64, 100, 999, 12345, 100000}) {
      for (int millibits : MILLIBITS) {
        ByteBuffer header = ByteBuffer.wrap(written(create(millibits, n)));
        out.printf("%s %d %d %d%n", millibits / 1000.0, n, header.getInt(headerBytes - 4),
            header.getInt(4));
      }
    }
  }

  // Takes the bytes of a filter that is too large for an array, and lists the bits that are set.
  static class SetBits extends OutputStream {
    final ByteBuffer header;
    final StringJoiner bits = new StringJoiner(",");
    long word, nbytes;

    SetBits(int headerBytes) {
      header = ByteBuffer.allocate(headerBytes);
    }

    @Override
    public void write(int value) {
      if (header.hasRemaining()) {
        header.put((byte) value);
        return;
      }
      word = word << 8 | (value & 0xff);
      nbytes++;
      for (; nbytes % 8 == 0 && word != 0; word &= word - 1) {
        bits.add(Long.toString((nbytes - 8) * 8 + Long.numberOfTrailingZeros(word)));
      }
    }
  }

  // Writes the bits that one key sets in filters whose size is near or beyond the reach of version
  // 1.
  static void large(PrintWriter out) throws IOException {
    out.println("# BloomFilter of one key: words, probes, key, bits that are set, ascending");
    for (long words : new long[] {(1 << 25) - 1, 1 << 25, (1 << 25) + 1, 50000017, 1 << 26}) {
      for (int i = 0; i < 4; i++) {
        BloomFilter filter = BloomFilter.create(words * 6, words * 64);
        byte[] key = put(filter, i % 3);
        SetBits set = new SetBits(headerBytes);
        filter.writeTo(set);
        out.printf("%d %d %s %s%n", words, set.header.getInt(4), hex(key), set.bits);
      }
    }
  }

  interface Writer {
    void write(PrintWriter out) throws IOException;
  }

  static void file(Path folder, String name, Writer writer) throws IOException {
    try (PrintWriter out = new PrintWriter(Files.newBufferedWriter(folder.resolve(name)))) {
      writer.write(out);
    }
  }

  public static void main(String[] args) throws IOException {
    Path folder = Path.of(args[0]);
    state = Long.parseLong(args[1]);
    headerBytes = written(BloomFilter.create(1, 1)).length - 8;
    String version = headerBytes == 12 ? "v1" : "v2";
    file(folder, version + "_filters.txt", Make::filters);
    file(folder, version + "_hashes.txt", Make::hashes);
    file(folder, version + "_queries.txt", Make::queries);
    file(folder, version + "_damage.txt", Make::damage);
    file(folder, version + "_plans.txt", Make::plans);
    file(folder, version + "_large.txt", Make::large);
  }
}
