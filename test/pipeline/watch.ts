/** What must hold after every step, whatever comes next. */
import type pg from 'pg';
import type { Command } from './commands.ts';

const ROWS = `select coalesce(m.cminmsgs_id, p.msg_id)::text as id, p.state, p.reason, p.terminal_seq::text as seq,
    m.cminmsgs_date_processed is not null as marked, c.watermark::text as watermark
  from inbox_cursor c left join (cminmsgs m full join proc_state p on p.msg_id = m.cminmsgs_id) on true`;

/** What only the active instance may write, in one line. The trace of schedules, which has no fence, is not of it. */
export const FINGERPRINT = `select concat_ws(' ', ${[
  ['proc_state', 'msg_id'],
  ['inbox_cursor', 'watermark'],
  ['inbox_hole', 'from_id'],
  ['message_identity', 'msg_id'],
  ['flight_schd', 'flid'],
  ['msg_event', 'event_id'],
]
  .map(
    ([table, key]) => `(select md5(coalesce(string_agg(t::text, '' order by ${key}), '')) from ${table} t)`,
  )
  .join(', ')}) as text`;

/** How much is still to be done. */
export const LEFT = `select (
    (select count(*) from cminmsgs m left join proc_state p on p.msg_id = m.cminmsgs_id
      where p.terminal_seq is null or p.backfill_at is null) +
    (select count(*) from msg_event where state = 'PENDING'))::integer as left`;

interface Row {
  readonly id: string;
  readonly state: string | null;
  readonly reason: string | null;
  readonly seq: string | null;
  readonly marked: boolean;
  readonly watermark: string;
}

export class Watch {
  readonly findings: string[] = [];
  readonly markedEarly: bigint[] = [];
  readonly #client: pg.Client;
  readonly #ended = new Map<string, string>();
  #watermark = 0n;
  #doing = 'the begin';
  #steps = 0;

  constructor(client: pg.Client) {
    this.#client = client;
  }

  /** What is about to happen. */
  doing(command: Command): void {
    this.#steps += 1;
    this.#doing = `step ${String(this.#steps)} ${JSON.stringify(command)}`;
  }

  note(what: string): void {
    this.findings.push(`${what}: ${this.#doing}`);
  }

  /** Marks only on what has ended; what has ended stays as it is; nothing ends before a smaller one that waits; W only rises. */
  async look(): Promise<void> {
    const { rows } = await this.#client.query<Row>(ROWS);
    const watermark = BigInt(rows[0]?.watermark ?? 0);
    if (watermark < this.#watermark) this.note(`W went back to ${String(watermark)}`);
    this.#watermark = watermark;
    let lastEnded = 0n;
    for (const { id, state, reason, seq, marked } of rows) {
      if (marked && seq === null) this.markedEarly.push(BigInt(id));
      const end = seq === null ? null : `${state ?? ''} ${reason ?? ''} ${seq}`;
      const before = this.#ended.get(id);
      if (before !== undefined && before !== end)
        this.note(`message ${id} ended as ${before}, is ${end ?? 'open'}`);
      if (end === null || before !== undefined) continue;
      this.#ended.set(id, end);
      if (BigInt(id) > lastEnded) lastEnded = BigInt(id);
      if (BigInt(id) > watermark) this.note(`message ${id} ended above W`);
    }
    const passed = rows.find(
      ({ id, state, seq }) => state !== null && seq === null && BigInt(id) < lastEnded,
    );
    if (passed !== undefined) this.note(`message ${passed.id} waits and ${String(lastEnded)} ended`);
  }
}
