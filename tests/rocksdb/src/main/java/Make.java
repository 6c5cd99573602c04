// Writes databases and tables of RocksDB.
//
//     Make databases FOLDER SEED LIST    makes databases in FOLDER; writes the keys of the database
//                                        NAME to NAME.keys, one after the other, 10 bytes each
//     Make table FILE KEYS OPTION...     makes a table of the keys in KEYS, which has a key in hex
//                                        on each line, in ascending order; - is the empty key
//
// Each line of LIST has the name of a database and options. An option is NAME=VALUE, as in
// RocksDB's own OPTIONS files.
// SPDX-License-Identifier: MIT

import java.io.BufferedOutputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Properties;
import java.util.Random;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.DBOptions;
import org.rocksdb.EnvOptions;
import org.rocksdb.FlushOptions;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.SstFileWriter;

public class Make {
  static final int PARTS = 12, KEYS_PER_PART = 1000, KEY_BYTES = 10;

  static Options options(List<String> words) {
    Properties properties = new Properties();
    for (String word : words) {
      String[] parts = word.split("=", 2);
      properties.setProperty(parts[0], parts[1]);
    }
    ColumnFamilyOptions family = properties.isEmpty()
        ? new ColumnFamilyOptions()
        : ColumnFamilyOptions.getColumnFamilyOptionsFromProps(properties);
    if (family == null)
      throw new IllegalArgumentException("options that RocksDB does not know: " + words);
    return new Options(new DBOptions().setCreateIfMissing(true), family);
  }

  // The last part is only in the log.
  static void fill(RocksDB db, Random random) throws RocksDBException {
    for (int part = 0; part < PARTS; part++) {
      if (part == PARTS - 3)
        db.compactRange();
      else if (part > 0)
        db.flush(new FlushOptions().setWaitForFlush(true));
      for (int i = 0; i < KEYS_PER_PART; i++) {
        byte[] key = new byte[KEY_BYTES], value = new byte[random.nextInt(100)];
        random.nextBytes(key);
        if (i % 2 == 0) // the other values are zeros, which codecs compress
          random.nextBytes(value);
        db.put(key, value);
        if (i % 9 == 0)
          db.delete(key);
      }
    }
  }

  static void database(Path folder, Random random, List<String> words) throws Exception {
    try (Options options = options(words); RocksDB db = RocksDB.open(options, folder.toString());
        OutputStream keys =
            new BufferedOutputStream(Files.newOutputStream(Path.of(folder + ".keys")))) {
      fill(db, random);
      try (RocksIterator at = db.newIterator()) {
        for (at.seekToFirst(); at.isValid(); at.next())
          keys.write(at.key());
        at.status();
      }
    }
  }

  static void table(String file, Path keys, List<String> words) throws Exception {
    try (Options options = options(words); EnvOptions environment = new EnvOptions();
        SstFileWriter writer = new SstFileWriter(environment, options)) {
      writer.open(file);
      for (String line : Files.readAllLines(keys))
        if (!line.startsWith("#")) {
          byte[] key = HexFormat.of().parseHex(line.equals("-") ? "" : line);
          writer.put(key, "value".getBytes());
        }
      writer.finish();
    }
  }

  public static void main(String[] arguments) throws Exception {
    RocksDB.loadLibrary();
    List<String> rest = Arrays.asList(arguments).subList(3, arguments.length);
    if (arguments[0].equals("table")) {
      table(arguments[1], Path.of(arguments[2]), rest);
      return;
    }
    Random random = new Random(Long.parseLong(arguments[2]));
    for (String line : Files.readAllLines(Path.of(arguments[3]))) {
      List<String> words = Arrays.asList(line.split(" "));
      database(Path.of(arguments[1], words.get(0)), random, words.subList(1, words.size()));
    }
  }
}
