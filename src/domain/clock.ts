/**
 * Time as the stations see it. Nothing in the pipeline reads the system clock: a clock is injected, so that
 * tests can move it and a jumping wall clock moves nothing (seed §5.1, decisions.md "Watermark details").
 */
export interface Clock {
  /** Milliseconds since 1970-01-01T00:00Z. */
  now(): number;
}
