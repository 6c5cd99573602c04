// Writes filters of Apache Hudi, and its answers: Make FOLDER SEED NKEYS. The folder gets the file
// `asked`, which has a key in each line, and three files for each filter: NAME.filter has its text,
// NAME.added has the keys in it, and NAME.answers has those keys of `asked` that may be in it.
// SPDX-License-Identifier: MIT
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.hudi.common.bloom.BloomFilter;
import org.apache.hudi.common.bloom.BloomFilterFactory;

public final class Make {
  private static final String[] LETTERS = {"a", "b", "Z", "7", "_", ":", ",", "-", "é", "€", "😀"};

  // Makes a key like those of tables: a UUID, fields with their names, a number, or any letters.
  private static String makeKey(Random random) {
    switch (random.nextInt(4)) {
      case 0:
        return new java.util.UUID(random.nextLong(), random.nextLong()).toString();
      case 1:
        return "id:" + random.nextInt(1000000000) + ",name:user" + random.nextInt(1000);
      case 2:
        return Long.toString(random.nextLong() >>> random.nextInt(40));
      default:
        StringBuilder letters = new StringBuilder();
        for (int left = 3 + random.nextInt(random.nextInt(8) == 0 ? 200 : 24); left > 0; left--) {
          letters.append(LETTERS[random.nextInt(LETTERS.length)]);
        }
        return letters.toString();
    }
  }

  private static void write(Path path, List<String> lines) throws IOException {
    try (BufferedWriter writer = Files.newBufferedWriter(path, StandardCharsets.UTF_8)) {
      for (String line : lines) {
        writer.write(line);
        writer.write('\n');
      }
    }
  }

  private static void make(Path folder, String name, String type, int entries, double rate, int max,
      List<String> added, List<String> asked) throws IOException {
    BloomFilter filter = BloomFilterFactory.createBloomFilter(entries, rate, max, type);
    for (String key : added) {
      filter.add(key);
    }
    String text = filter.serializeToString();
    BloomFilter read = BloomFilterFactory.fromString(text, type);
    List<String> answers = new ArrayList<>();
    for (String key : asked) {
      if (read.mightContain(key)) {
        answers.add(key);
      }
    }
    write(folder.resolve(name + ".filter"), List.of(text));
    write(folder.resolve(name + ".added"), added);
    write(folder.resolve(name + ".answers"), answers);
  }

  public static void main(String[] arguments) throws IOException {
    Path folder = Path.of(arguments[0]);
    Random random = new Random(Long.parseLong(arguments[1]));
    int n = Integer.parseInt(arguments[2]);
    List<String> keys = new ArrayList<>();
    for (int i = 0; i < n; i++) {
      keys.add(makeKey(random));
    }
    write(folder.resolve("asked"), keys);
    int half = n / 2;
    int few = Math.min(half, 60000);
    make(folder, "simple", "SIMPLE", half, 0.05, 100000, keys.subList(0, half), keys);
    make(folder, "crowded", "SIMPLE", 1000, 0.01, 100000, keys.subList(0, 2500), keys);
    make(folder, "strict", "SIMPLE", half, 1e-9, 100000, keys.subList(n - half, n), keys);
    make(folder, "one-row", "DYNAMIC_V0", 60000, 1e-9, 100000, keys.subList(0, few), keys);
    make(folder, "rows", "DYNAMIC_V0", half / 5, 0.05, half, keys.subList(0, half), keys);
    make(folder, "overfull", "DYNAMIC_V0", half / 5, 0.02, half / 2, keys.subList(0, half), keys);
  }
}
