/**
 * The number of partitions of each topic, as it was when the pipeline first used it (contract, "Delivery"). The
 * partition of a flight follows from its key and this number: under another one, changes of a flight would stand
 * in two partitions, and nobody could tell their order.
 */

/** What the pipeline remembers of its topics, over restarts. */
export interface PartitionMemory {
  /** The number stored for a topic; null where it was never used. */
  stored(topic: string): Promise<number | null>;
  /** Stores the number at the first call for a topic and gives the one that is stored. Throws LostLease. */
  fix(topic: string, partitions: number): Promise<number>;
}

/** A memory of this process only, for tools and tests. */
export function partitionsInProcess(): PartitionMemory {
  const known = new Map<string, number>();
  return {
    stored: async (topic) => known.get(topic) ?? null,
    fix: async (topic, partitions) => {
      const stored = known.get(topic) ?? partitions;
      known.set(topic, stored);
      return stored;
    },
  };
}

/** A topic that is not what the pipeline remembers. Nothing is sent until an operator has decided. */
export class TopicFault extends Error {
  override readonly name = 'TopicFault';
}

/** One line for a topic whose number of partitions differs from the one stored: what, and the way out. */
export function partitionsChanged(topic: string, stored: number, found: number): string {
  return (
    `topic ${topic} has ${String(found)} partitions and had ${String(stored)} at the first start: the order per flight ` +
    `would break; create it again with ${String(stored)}, or accept ${String(found)} by ` +
    'msgx republish --all --accept-partitions --reason TEXT (see the runbook)'
  );
}

/** One line for a topic that was there and is gone. */
export function topicVanished(topic: string, stored: number): string {
  return (
    `topic ${topic} is missing and had ${String(stored)} partitions at the first start: it is not created again by msgx; ` +
    `create it with ${String(stored)} partitions, then msgx republish --all --reason TEXT (see the runbook)`
  );
}
