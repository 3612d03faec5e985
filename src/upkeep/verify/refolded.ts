/**
 * Invariant 7: the messages recorded as applied, folded again by stamps from their kept texts, give exactly
 * the stored flights. The fold is the domain's; outcomes are recorded facts and not decided again.
 */
import type { Dialect } from '../../dialect/port.ts';
import { flid as flidOf, msgId as msgIdOf } from '../../domain/ids.ts';
import { jsonEqual, type Json, type JsonObject } from '../../domain/json.ts';
import { emptyRegisters, foldEffect, type Registers } from '../../domain/merge.ts';
import { effectsOf } from '../../domain/net-effect.ts';
import { operationDay } from '../../domain/operation-day.ts';
import { canonicalise } from '../../domain/state.ts';
import { appliedMessages, storedAfter, type StoredFlight } from '../../store/audit-flights.ts';
import type { Queryable } from '../../store/statement.ts';
import { selectTexts } from '../../store/raw-message.ts';
import { finding, type Finding } from './report.ts';

/** Messages decoded at once: bounds memory, a schedule of 2,000 flights being a few megabytes. */
const PAGE = 200;
const FLIGHTS_PAGE = 2_000;
const MOST_NOTES = 20;

interface Folded {
  registers: Registers;
  operationDay: string | null;
}

/** Folds everything again and compares. */
export async function verifyRefolded(
  snapshot: Queryable,
  dialect: Dialect,
  cutoff: string,
): Promise<Finding> {
  const flights = new Map<string, Folded>();
  const uncheckable = new Set<string>();
  let messages = 0;
  for await (const page of appliedMessages(snapshot, PAGE)) {
    const texts = await selectTexts(
      snapshot,
      page.map(({ msgId }) => msgId),
    );
    for (const { msgId, flids, profileHash } of page) {
      messages += 1;
      const text = texts.get(msgId)?.text ?? null;
      const decoded = text === null || profileHash !== dialect.profileHash ? null : dialect.decode(text);
      if (decoded?.outcome !== 'decoded') {
        for (const flid of flids) uncheckable.add(flid);
        continue;
      }
      const applied = new Set(flids);
      for (const [flid, effect] of effectsOf(decoded.message)) {
        if (!applied.has(flid)) continue;
        const flight = flights.get(flid) ?? { registers: emptyRegisters(flidOf(flid)), operationDay: null };
        flight.registers = foldEffect(flight.registers, msgIdOf(msgId), effect).after;
        const scheduled = effect.scalars.get('scheduledTime');
        if (decoded.message.body.kind === 'schedule' && typeof scheduled === 'string') {
          flight.operationDay ??= operationDay(scheduled, cutoff);
        }
        flights.set(flid, flight);
      }
    }
  }
  return compare(snapshot, flights, uncheckable, messages);
}

async function compare(
  snapshot: Queryable,
  flights: ReadonlyMap<string, Folded>,
  uncheckable: ReadonlySet<string>,
  messages: number,
): Promise<Finding> {
  const offenders: string[] = [];
  const lost = new Set(flights.keys());
  let checked = 0;
  let after = '';
  for (;;) {
    const page = await storedAfter(snapshot, after, FLIGHTS_PAGE);
    for (const stored of page) {
      lost.delete(stored.flid);
      if (uncheckable.has(stored.flid)) continue;
      checked += 1;
      const folded = flights.get(stored.flid);
      const fault = folded === undefined ? 'no recorded message made it' : difference(stored, folded);
      if (fault !== null) offenders.push(`flight ${stored.flid}: ${fault}`);
    }
    const last = page.at(-1);
    if (last === undefined || page.length < FLIGHTS_PAGE) break;
    after = last.flid;
  }
  for (const flid of lost) offenders.push(`flight ${flid}: has messages and is not stored`);
  const counted = { flights: checked, messages, notCheckable: uncheckable.size };
  return finding(
    7,
    counted,
    offenders.slice(0, MOST_NOTES),
    uncheckable.size === 0
      ? null
      : `${String(uncheckable.size)} flights have a message without a kept text or judged under another profile`,
  );
}

function difference(stored: StoredFlight, { registers, operationDay: day }: Folded): string | null {
  // A flight that was archived without its deletion is told as deleted all the same: no message says so.
  const byArchive = stored.archived && stored.deleted;
  if (stored.deleted !== registers.deleted && !byArchive)
    return `deleted is ${String(stored.deleted)}, folded ${String(registers.deleted)}`;
  if (day !== null && stored.operationDay !== day)
    return `operation day is ${stored.operationDay}, folded ${day}`;
  if (stored.state['flid'] !== stored.flid) return 'its state is not that of this flight';
  const state = canonicalise(stored.state as JsonObject);
  if (!jsonEqual(state, registers.state)) {
    const fields = Object.keys(state).filter(
      (key) => !jsonEqual(state[key] ?? null, registers.state[key] ?? null),
    );
    return `differs from its messages in ${fields.join(', ')}`;
  }
  return jsonEqual(stored.stamps as Json, registers.stamps as unknown as Json)
    ? null
    : 'stamps differ from its messages';
}
