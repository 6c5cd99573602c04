// Writes parquet_mr.parquet: Make FOLDER. parquet-mr 1.12 does not write bloom_filter_length.
// SPDX-License-Identifier: MIT

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.apache.hadoop.fs.Path;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.example.data.simple.SimpleGroupFactory;
import org.apache.parquet.hadoop.ParquetWriter;
import org.apache.parquet.hadoop.example.ExampleParquetWriter;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;
import org.apache.parquet.io.api.Binary;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.MessageTypeParser;

public class Make {
  static final int N = 24, GROUPS = 2;

  static final MessageType SCHEMA = MessageTypeParser.parseMessageType(
      "message rows {"
          + " required binary text (STRING);"
          + " optional binary binary;"
          + " optional int32 int16 (INTEGER(16,true));"
          + " optional int32 int32;"
          + " optional int64 int64;"
          + " optional int64 uint64 (INTEGER(64,false));"
          + " optional float float32;"
          + " optional double float64;"
          + " optional int32 date (DATE);"
          + " optional int64 ms (TIMESTAMP(MILLIS,true));"
          + " optional int64 us (TIMESTAMP(MICROS,false));"
          + " optional int32 decimal9 (DECIMAL(9,2));"
          + " optional fixed_len_byte_array(16) decimal38 (DECIMAL(38,10));"
          + " optional fixed_len_byte_array(16) uuid (UUID);"
          + " optional group user { required int64 id; }"
          + " optional group tags (LIST) {"
          + "   repeated group list { optional binary element (STRING); }"
          + " }"
          + " }");

  // Returns numbers that look random.
  static long number(long i) {
    long z = (i + 1) * 0x9e3779b97f4a7c15L;
    z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
    return z ^ (z >>> 31);
  }

  static Binary fixed(long high, long low) {
    return Binary.fromConstantByteArray(ByteBuffer.allocate(16).order(ByteOrder.BIG_ENDIAN)
        .putLong(high).putLong(low).array());
  }

  static Group row(SimpleGroupFactory factory, int i) {
    Group group = factory.newGroup().append("text", "key " + i);
    if (i % 11 == 5) {
      return group;
    }
    group.append("binary", Binary.fromConstantByteArray(Long.toHexString(number(i)).getBytes()))
        .append("int16", (int) (short) number(i))
        .append("int32", (int) number(i))
        .append("int64", number(i))
        .append("uint64", number(i + 100))
        .append("float32", i == 7 ? -0.0f : (int) number(i) / 256f)
        .append("float64", i == 8 ? Double.NaN : i == 9 ? 0.0 : number(i) / 65536.0)
        .append("date", (int) (short) number(i))
        .append("ms", number(i) >> 24)
        .append("us", number(i) >> 14)
        .append("decimal9", (int) (number(i) % 1000000000))
        .append("decimal38", fixed(number(i) >> 4, number(i + 1)))
        .append("uuid", fixed(number(i), number(i + 2)));
    group.addGroup("user").append("id", number(i) >> 30);
    Group tags = group.addGroup("tags");
    for (int tag = 0; tag < i % 3; tag++) {
      tags.addGroup("list").append("element", "tag " + (i + tag) % 9);
    }
    return group;
  }

  public static void main(String[] arguments) throws Exception {
    SimpleGroupFactory factory = new SimpleGroupFactory(SCHEMA);
    ExampleParquetWriter.Builder builder =
        ExampleParquetWriter.builder(new Path(arguments[0], "parquet_mr.parquet"))
            .withType(SCHEMA)
            .withCompressionCodec(CompressionCodecName.UNCOMPRESSED)
            .withRowGroupSize(1)
            .withMinRowCountForPageSizeCheck(N);
    for (String[] path : SCHEMA.getPaths().toArray(new String[0][])) {
      String name = String.join(".", path);
      builder = builder.withBloomFilterEnabled(name, true).withBloomFilterNDV(name, N);
    }
    try (ParquetWriter<Group> writer = builder.build()) {
      for (int i = 0; i < N * GROUPS; i++) {
        writer.write(row(factory, i));
      }
    }
  }
}
