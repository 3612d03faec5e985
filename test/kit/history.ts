/** Messages and flights of the past, written straight into our tables: what look-ups and pages meet after months. */
import type pg from 'pg';

export interface History {
  readonly messages: number;
  readonly flights: number;
  /** Operation days from the first; the flights take turns on them. */
  readonly days: number;
  /** ISO date; the messages come a second apart from its midnight in UTC. Default 2026-03-01. */
  readonly firstDay?: string;
}

/**
 * Messages from 1 on: one in 1,000 is dead, one in 50 a duplicate; the last ten wait unless told otherwise, the first
 * third is archived. Flights from 700000 on, each touched by one message in turn, which made an event.
 */
export async function seedHistory(
  client: pg.ClientBase,
  { messages, flights, days, firstDay = '2026-03-01' }: History,
  waiting = 10,
): Promise<void> {
  const ended = messages - waiting;
  await client.query(`
    insert into proc_state (msg_id, type, styp, state, error_class, last_error, reason, received_at, enqueued_at,
        terminal_at, terminal_seq, backfill_at)
      select n, case when n % 500 = 0 then 'SCHD' else 'FLOP' end, case n % 3 when 0 then 'ESTM' else 'GTDT' end,
        case when n > ${ended} then 'PENDING' when n % 1000 = 7 then 'DEAD' when n % 50 = 3 then 'SKIPPED'
          else 'SUCCEEDED' end,
        case when n % 1000 = 7 then 'MALFORMED' end, case when n % 1000 = 7 then 'bad-value:ESTM' end,
        case when n % 50 = 3 and n % 1000 <> 7 then 'duplicate-of:' || n - 1 end, t, t,
        case when n <= ${ended} then t end, case when n <= ${ended} then n end, case when n <= ${ended} then t end
      from (select n, '${firstDay}Z'::timestamptz + n * interval '1 second' as t
        from generate_series(1, ${messages}) n) s;
    insert into flight_schd (flid, version, operation_day, deleted, state, stamps, last_msg_id, updated_at)
      select (700000 + n)::text, greatest(1, ${messages} / ${flights}), '${firstDay}'::date + n % ${days}, false,
        jsonb_build_object('flid', (700000 + n)::text, 'flightNumber', 'XX' || lpad(n::text, 4, '0'),
          'movement', case n % 2 when 0 then 'A' else 'D' end, 'terminal', 'T' || n % 3,
          'scheduledTime', to_char('${firstDay}'::date + n % ${days} + n % 1440 * interval '1 minute',
            'YYYY-MM-DD"T"HH24:MI:SS"+08:00"'),
          'gates', jsonb_build_array(jsonb_build_object('seq', 1, 'code', 'G' || n % 40)), 'remark', repeat('x', 2000)),
        '{"fields":{},"deleted":"1","delays":{"floor":null,"codes":{}},"push":{},"tractor":{}}', ${ended}, now()
      from generate_series(0, ${flights - 1}) n;
    insert into flight_message (flid, msg_id, state_version, changed, superseded)
      select (700000 + n % ${flights})::text, n, 1 + n / ${flights}, '{gates}', '{}'
      from generate_series(1, ${messages}) n;
    insert into msg_event (target, partition_key, event_type, state_version, state, sent_at, msg_id, created_at, body)
      select 'KAFKA:msg', (700000 + n % ${flights})::text, 'UPSERT', 1 + n / ${flights}, 'SENT', now(), n, now(),
        json_build_object('changed', array['gates'], 'flight', json_build_object('gates', repeat('y', 500)))
      from generate_series(1, ${messages}) n`);
  await client.query(
    `with gone as (delete from proc_state where msg_id <= $1 returning *)
     insert into proc_state_hst select *, now() from gone`,
    [Math.floor((messages * 3) / 10)],
  );
  await client.query('vacuum (analyze) proc_state, proc_state_hst, flight_schd, flight_message, msg_event');
}
