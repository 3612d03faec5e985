/** Topics in memory: one writer at a time, as the broker fences a former producer, and a refusal on demand. */
import type { SendOutcome, Sink, SinkRecord, Stream } from '../../src/delivery/port.ts';
import { Outage } from '../../src/runtime/outage.ts';
import type { JournalLine } from '../kit/service-pipeline.ts';

export class Topics {
  readonly lines: Readonly<Record<Stream, JournalLine[]>> = { msg: [], schd: [] };
  /** Whether the first record that comes next is refused, alone or with its batch, once. */
  refuse = false;
  #writer = 0;
  #refused: string | null = null;

  /** A new writer; those before it write no more. */
  open(): Sink {
    this.#writer += 1;
    const writer = this.#writer;
    return {
      kind: 'memory',
      send: async (records) => {
        if (writer !== this.#writer) throw new Outage('delivery', new Error('fenced by a newer producer'));
        return this.#take(records);
      },
      probe: async () => true,
      close: async () => undefined,
    };
  }

  #take(records: readonly SinkRecord[]): SendOutcome {
    const [first] = records;
    if (first === undefined) return { outcome: 'accepted' };
    if (this.refuse) this.#refused = nameOf(first);
    this.refuse = false;
    if (records.some((record) => nameOf(record) === this.#refused)) {
      if (records.length === 1) this.#refused = null;
      return { outcome: 'refused', reason: 'not now' };
    }
    for (const { stream, key, headers, value } of records) {
      const parsed = value === null ? null : (JSON.parse(value) as JournalLine['value']);
      this.lines[stream].push({ topic: stream, key, headers, value: parsed });
    }
    return { outcome: 'accepted' };
  }
}

function nameOf({ stream, headers }: SinkRecord): string {
  return `${stream} ${headers['ce_id'] ?? ''}`;
}
