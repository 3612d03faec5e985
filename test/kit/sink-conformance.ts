/**
 * What every sink has to pass (src/delivery/port.ts). The harness looks at the target itself, not through the
 * sink, and can take the target away.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Sink, SinkRecord, Stream } from '../../src/delivery/port.ts';
import { Outage } from '../../src/runtime/outage.ts';

/** A record as a consumer finds it. */
export interface Delivered {
  readonly key: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed value; null is a tombstone. */
  readonly value: unknown;
}

export interface SinkHarness {
  /** Opens a sink on the target; several may be opened one after the other. */
  open(options?: { readonly timeoutMs?: number }): Promise<Sink>;
  /** Everything that consumers of a stream see, in order. */
  read(stream: Stream): Promise<readonly Delivered[]>;
  /** A record that the target answers and will not take. */
  refusable(): SinkRecord;
  /** Makes the target fail in the middle of the next batches, until the returned function is called. */
  fail(): Promise<() => Promise<void>>;
  /** Makes the target silent until the returned function is called. */
  silence(): Promise<() => Promise<void>>;
  /** Closes what is open and removes the target. */
  dispose(): Promise<void>;
}

export function record(key: string, value: unknown, stream: Stream = 'msg'): SinkRecord {
  return {
    stream,
    key,
    headers: { ce_id: key, 'content-type': 'application/json' },
    value: value === null ? null : JSON.stringify(value),
  };
}

const ACCEPTED = { outcome: 'accepted' };

/** Defines the suite; call it at the top level of a test file. */
export function sinkConformance(name: string, create: () => Promise<SinkHarness>): void {
  describe(`${name} is a sink`, () => {
    let harness: SinkHarness;
    beforeEach(async () => {
      harness = await create();
    });
    afterEach(async () => {
      await harness.dispose();
    });
    const numbers = async (stream: Stream = 'msg') => (await harness.read(stream)).map(({ value }) => value);

    it('keeps the order within and across batches and streams', async () => {
      const sink = await harness.open();
      const all = Array.from({ length: 300 }, (_, index) => index);
      for (let at = 0; at < all.length; at += 70) {
        const batch = all.slice(at, at + 70).map((n) => record(`f${String(n % 7)}`, n));
        expect(await sink.send(batch)).toEqual(ACCEPTED);
        expect(await sink.send([record('x', at, 'schd')])).toEqual(ACCEPTED);
      }
      expect(await numbers()).toEqual(all);
      expect(await numbers('schd')).toEqual([0, 70, 140, 210, 280]);
    });

    it('takes concurrent sends in the order in which they were begun', async () => {
      const sink = await harness.open();
      await Promise.all([1, 2, 3, 4, 5].map((n) => sink.send([record('f', n)])));
      expect(await numbers()).toEqual([1, 2, 3, 4, 5]);
    });

    it('keeps what it has accepted when it is opened again', async () => {
      const first = await harness.open();
      await first.send([record('f', 1)]);
      await first.close();
      const second = await harness.open();
      await second.send([record('f', 2)]);
      expect(await numbers()).toEqual([1, 2]);
    });

    it('carries keys, headers and values as they are: Chinese, escapes, large', async () => {
      const sink = await harness.open();
      const value = { remark: '飞机故障"引号"\\ \u2028 𠮷', long: '航'.repeat(200_000) };
      const sent = record('航班 1', value);
      expect(await sink.send([sent])).toEqual(ACCEPTED);
      expect(await harness.read('msg')).toEqual([{ key: '航班 1', headers: sent.headers, value }]);
    });

    it('writes a tombstone as a literal null', async () => {
      const sink = await harness.open();
      await sink.send([record('f', null, 'schd'), record('g', 'null', 'schd'), record('f', null)]);
      expect(await numbers('schd')).toEqual([null, 'null']);
      expect(await numbers()).toEqual([null]);
    });

    it('refuses what the target will not take, as a whole, and stays usable', async () => {
      const sink = await harness.open();
      const batch = [record('f', 1), harness.refusable(), record('f', 2)];
      expect(await sink.send(batch)).toEqual({
        outcome: 'refused',
        reason: expect.stringMatching(/./) as string,
      });
      expect(await numbers()).toEqual([]);
      expect(await sink.send([record('f', 1)])).toEqual(ACCEPTED);
      expect(await numbers()).toEqual([1]);
    });

    it('reports an outage as such, shows nothing of the failed batch, and takes the batch again afterwards', async () => {
      const sink = await harness.open();
      await sink.send([record('f', 0)]);
      const batch = [record('f', 1), record('g', 2), record('f', 3, 'schd')];
      const restore = await harness.fail();
      await expect(sink.send(batch)).rejects.toThrow(Outage);
      expect(await sink.probe()).toBe(false);
      await expect(sink.send(batch)).rejects.toThrow(Outage);
      await restore();
      expect(await sink.probe()).toBe(true);
      expect(await sink.send(batch)).toEqual(ACCEPTED);
      expect(await numbers()).toEqual([0, 1, 2]);
      expect(await numbers('schd')).toEqual([3]);
    });

    it('gives up a silent target at the deadline; a resend afterwards keeps the order of first deliveries', async () => {
      const sink = await harness.open({ timeoutMs: 300 });
      await sink.send([record('f', 0)]);
      const restore = await harness.silence();
      const started = performance.now();
      await expect(sink.send([record('f', 1)])).rejects.toThrow(Outage);
      expect(performance.now() - started).toBeLessThan(10_000);
      expect(await sink.probe()).toBe(false);
      await restore();
      await expect.poll(() => sink.probe(), { timeout: 10_000 }).toBe(true);
      expect(await sink.send([record('f', 1)])).toEqual(ACCEPTED);
      expect(await sink.send([record('f', 2)])).toEqual(ACCEPTED);
      // Uncertain is not lost: once or twice, never after a later one.
      expect([...new Set(await numbers())]).toEqual([0, 1, 2]);
      expect((await numbers()).at(-1)).toBe(2);
    });

    it('takes an empty batch, closes twice, and sends nothing once closed', async () => {
      const sink = await harness.open();
      expect(await sink.send([])).toEqual(ACCEPTED);
      await sink.send([record('f', 1)]);
      await sink.close();
      await sink.close();
      await expect(sink.send([record('f', 2)])).rejects.toThrow(Outage);
      expect(await numbers()).toEqual([1]);
    });
  });
}
