/**
 * `msgx verify --digest`: a hash of the business state. Two runs over the same messages give the same digest,
 * whatever their times, crashes and event IDs were: flights with version and state, reference data, and the
 * outcome of each message.
 */
import { createHash } from 'node:crypto';
import type { JsonObject } from '../domain/json.ts';
import { canonicalise } from '../domain/state.ts';
import { digestFlightsAfter, digestParts } from '../store/digest-facts.ts';
import type { Database } from '../store/database.ts';

const PAGE = 2_000;

export interface Digest {
  /** SHA-256, hex. */
  readonly digest: string;
  readonly flights: number;
  readonly referenceRows: number;
  readonly messages: number;
}

/** Computes the digest on one consistent snapshot. Throws Outage where our own database is not available. */
export async function businessDigest(database: Database): Promise<Digest> {
  return database.transaction(
    async (snapshot) => {
      const lines: string[] = [];
      let after = '';
      for (;;) {
        const page = await digestFlightsAfter(snapshot, after, PAGE);
        for (const { flid, version, operationDay, deleted, state } of page) {
          const canonical = canonicalise({ flid, ...(state as JsonObject) });
          const flight = JSON.stringify([flid, version, operationDay, deleted, canonical]);
          lines.push(createHash('sha256').update(flight).digest('hex'));
        }
        const last = page.at(-1);
        if (last === undefined || page.length < PAGE) break;
        after = last.flid;
      }
      const { reference, messages } = await digestParts(snapshot);
      // Sorted here: the order of a text column depends on the collation of the database.
      const all = [...lines.sort(), `reference ${reference.hash}`, `messages ${messages.hash}`];
      return {
        digest: createHash('sha256').update(all.join('\n')).digest('hex'),
        flights: lines.length,
        referenceRows: reference.rows,
        messages: messages.rows,
      };
    },
    { isolation: 'repeatable read', readOnly: true },
  );
}
