/**
 * `msgx verify --digest`: a hash of the business state. Two runs over the same messages give the same digest,
 * whatever their times, crashes and event IDs were: flights with version and state, reference data, and the
 * outcome of each message.
 */
import { createHash } from 'node:crypto';
import type { JsonObject } from '../domain/json.ts';
import { canonicalise } from '../domain/state.ts';
import { digestFlightsAfter, digestParts } from '../store/audit-facts.ts';
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
      const hash = createHash('sha256');
      let flights = 0;
      let after = '';
      for (;;) {
        const page = await digestFlightsAfter(snapshot, after, PAGE);
        for (const { flid, version, operationDay, deleted, state } of page) {
          flights += 1;
          const canonical = canonicalise(state as JsonObject);
          hash.update(`${JSON.stringify([flid, version, operationDay, deleted, canonical])}\n`);
        }
        const last = page.at(-1);
        if (last === undefined || page.length < PAGE) break;
        after = last.flid;
      }
      const { reference, messages } = await digestParts(snapshot);
      hash.update(`reference ${reference.hash}\nmessages ${messages.hash}\n`);
      return {
        digest: hash.digest('hex'),
        flights,
        referenceRows: reference.rows,
        messages: messages.rows,
      };
    },
    { isolation: 'repeatable read', readOnly: true },
  );
}
