/**
 * Arrays as parameters in PostgreSQL's binary form. The driver would write them as text, which doubles every quote of
 * the JSON within, and has the server read them character by character: with states and events that is a large part
 * of what a batch costs on both sides.
 */

/** OIDs of the element types. */
const BOOL = 16;
const BYTEA = 17;
const INT8 = 20;
const INT4 = 23;
const TEXT = 25;

/** Dimensions, whether there are nulls, element type, length and lower bound of the one dimension; 4 bytes each. */
const HEADER_BYTES = 20;
/** Length that stands for null. */
const NULL_LENGTH = -1;

/** A parameter of type text[]. */
export function textArray(values: readonly (string | null)[]): Buffer {
  const sizes = values.map((value) => (value === null ? NULL_LENGTH : Buffer.byteLength(value)));
  return build(TEXT, sizes, (buffer, at, index) => buffer.write(values[index] ?? '', at));
}

/** A parameter of type bytea[]. */
export function byteaArray(values: readonly (Uint8Array | null)[]): Buffer {
  const sizes = values.map((value) => value?.byteLength ?? NULL_LENGTH);
  return build(BYTEA, sizes, (buffer, at, index) => {
    buffer.set(values[index] ?? NO_BYTES, at);
  });
}

/** A parameter of type bigint[]. */
export function bigintArray(values: readonly (bigint | null)[]): Buffer {
  const sizes = values.map((value) => (value === null ? NULL_LENGTH : 8));
  return build(INT8, sizes, (buffer, at, index) => buffer.writeBigInt64BE(values[index] ?? 0n, at));
}

/** A parameter of type integer[]. */
export function integerArray(values: readonly (number | null)[]): Buffer {
  const sizes = values.map((value) => (value === null ? NULL_LENGTH : 4));
  return build(INT4, sizes, (buffer, at, index) => buffer.writeInt32BE(values[index] ?? 0, at));
}

/** A parameter of type boolean[]. */
export function booleanArray(values: readonly boolean[]): Buffer {
  return build(
    BOOL,
    values.map(() => 1),
    (buffer, at, index) => buffer.writeUInt8(values[index] === true ? 1 : 0, at),
  );
}

const NO_BYTES = new Uint8Array();

/** @param write puts the element of this index, whose size was given, into the buffer; never called for null */
function build(
  type: number,
  sizes: readonly number[],
  write: (buffer: Buffer, at: number, index: number) => unknown,
): Buffer {
  if (sizes.length === 0) return empty(type);
  let length = HEADER_BYTES;
  for (const size of sizes) length += 4 + Math.max(size, 0);
  const buffer = Buffer.allocUnsafe(length);
  buffer.writeInt32BE(1, 0);
  buffer.writeInt32BE(sizes.includes(NULL_LENGTH) ? 1 : 0, 4);
  buffer.writeInt32BE(type, 8);
  buffer.writeInt32BE(sizes.length, 12);
  buffer.writeInt32BE(1, 16);
  let at = HEADER_BYTES;
  for (const [index, size] of sizes.entries()) {
    buffer.writeInt32BE(size, at);
    at += 4;
    if (size === NULL_LENGTH) continue;
    write(buffer, at, index);
    at += size;
  }
  return buffer;
}

/** An array without elements has no dimension. */
function empty(type: number): Buffer {
  const buffer = Buffer.alloc(12);
  buffer.writeInt32BE(type, 8);
  return buffer;
}
