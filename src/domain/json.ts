/** Any JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;
/** A JSON object. */
export interface JsonObject {
  readonly [key: string]: Json;
}
