/** Any JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;
/** A JSON object. */
export interface JsonObject {
  readonly [key: string]: Json;
}

/** Whether two values are the same JSON: key order does not count, because jsonb does not keep it. */
export function jsonEqual(left: Json, right: Json): boolean {
  if (left === right) return true;
  if (isJsonArray(left) || isJsonArray(right)) {
    return (
      isJsonArray(left) &&
      isJsonArray(right) &&
      left.length === right.length &&
      left.every((value, index) => jsonEqual(value, right[index] ?? null))
    );
  }
  if (!isJsonObject(left) || !isJsonObject(right)) return false;
  const keys = Object.keys(left);
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && jsonEqual(left[key] ?? null, right[key] ?? null))
  );
}

/** Whether a value is a JSON object: no array, not null. */
export function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether a value is a JSON array; `Array.isArray` alone does not narrow a read-only array. */
export function isJsonArray(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}
