/** Reads what a run has left behind, for the checker: plain SELECTs, the topics as kcat reads them, the mailbox's rows. */
import type { JournalLine, TestPipeline } from '../kit/service-pipeline.ts';
import type { Facts, MailboxRow, Told } from './checker/facts.ts';

/** What only those know who were there during the run. */
export type Witnessed = Pick<Facts, 'acknowledged' | 'seenMarkedEarly'>;

/** Where a run has left it. */
export interface FactSource {
  readonly config: Pick<TestPipeline['config'], 'timeZone'>;
  readonly mailboxSide: Pick<TestPipeline['mailboxSide'], 'contents'>;
  rows: TestPipeline['rows'];
  journal: TestPipeline['journal'];
}

/** Everything that the checker looks at; the pipeline is at rest. */
export async function readFacts(pipeline: FactSource, witnessed?: Witnessed): Promise<Facts> {
  const mailbox: readonly MailboxRow[] = await pipeline.mailboxSide.contents();
  const messages = await pipeline.rows<{
    id: string;
    state: string;
    errorClass: string | null;
    reason: string | null;
    late: boolean;
    terminalSeq: string | null;
    terminalAt: number | null;
  }>(
    `select msg_id::text as id, state, error_class as "errorClass", coalesce(reason, last_error) as reason, late,
       terminal_seq::text as "terminalSeq", ${millis('terminal_at')} as "terminalAt"
     from (select * from proc_state union all select ${await columnsOf(pipeline)} from proc_state_hst) p`,
  );
  const released = await pipeline.rows<{ from: string; to: string }>(
    'select from_id::text as "from", to_id::text as "to" from inbox_hole where released_at is not null',
  );
  return {
    timeZone: pipeline.config.timeZone,
    mailbox,
    acknowledged: witnessed?.acknowledged ?? new Set(mailbox.map(({ id }) => id)),
    seenMarkedEarly: witnessed?.seenMarkedEarly ?? [],
    messages: messages.map((row) => ({
      ...row,
      id: BigInt(row.id),
      terminalSeq: row.terminalSeq === null ? null : BigInt(row.terminalSeq),
    })),
    released: released.map(({ from, to }) => ({ from: BigInt(from), to: BigInt(to) })),
    flights: await pipeline.rows(
      `select flid, version, deleted, operation_day::text as "operationDay", state from flight_schd`,
    ),
    reference: await pipeline.rows('select rtype, rkey, active, body from ref_master'),
    events: await pipeline.rows(
      `select event_id::text as "eventId", partition_key as flid, state_version as version, state,
         ${millis('sent_at')} as "sentAt"
       from msg_event where target = 'KAFKA:msg' order by event_id`,
    ),
    changes: (await pipeline.journal('msg')).map(told),
    states: (await pipeline.journal('schd')).map(told),
  };
}

/** The archive has one column more. */
async function columnsOf(pipeline: FactSource): Promise<string> {
  const columns = await pipeline.rows<{ name: string }>(
    `select attname as name from pg_attribute
     where attrelid = 'proc_state'::regclass and attnum > 0 and not attisdropped order by attnum`,
  );
  return columns.map(({ name }) => name).join(', ');
}

function millis(column: string): string {
  return `(extract(epoch from ${column}) * 1000)::float8`;
}

function told({
  key,
  headers,
  value,
  at = null,
}: Omit<JournalLine, 'at'> & { readonly at?: number | null }): Told {
  return { key, eventId: headers['ce_id'] ?? '', at, value };
}
