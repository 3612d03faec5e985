/** Where and how the Kafka sink connects (contract, `delivery.kafka.*`). */
import { isIP } from 'node:net';
import type { BaseOptions } from '@platformatic/kafka';
import type { Stream } from '../port.ts';
import type { PartitionMemory } from './kafka-partitions.ts';

export interface KafkaSinkOptions {
  /** Bootstrap brokers, each host:port. */
  readonly brokers: readonly string[];
  readonly topics: Readonly<Record<Stream, string>>;
  /** One per pipeline: whoever begins with it next fences the one before. */
  readonly transactionalId: string;
  /** Deadline of one batch, ms. */
  readonly timeoutMs: number;
  /** Null is plain text; `ca` are PEM certificates to trust instead of the system's (and NODE_EXTRA_CA_CERTS). */
  readonly tls?: { readonly ca?: string } | null;
  readonly sasl?: {
    readonly mechanism: 'PLAIN' | 'SCRAM-SHA-256' | 'SCRAM-SHA-512';
    readonly username: string;
    readonly password: string;
  } | null;
  /**
   * Asked after a new producer has fenced all others and before its first record: throws LostLease where we are
   * not the active instance any more. A former active that wakes up thus sends nothing.
   */
  readonly confirmActive?: () => Promise<void>;
  /** The numbers of partitions that must not change; by default those that this sink has seen first. */
  readonly partitions?: PartitionMemory;
}

/**
 * Name of the producer that all instances of one pipeline share. The topic is in it because a shadow pipeline may
 * have the same schema name in another database, and must not fence the real one.
 */
export function transactionalIdOf(pipeline: {
  readonly schema: string;
  readonly airport: string;
  /** Of the changes. */
  readonly topic: string;
}): string {
  return `msgx-${pipeline.schema}-${pipeline.airport}-${pipeline.topic}`;
}

/** Rests between the client's own retries, ms. The end of the transaction before is written within some ms. */
const RETRY_MS = 250;
const CONCURRENT_RETRY_MS = { first: 10, most: 500 };

/**
 * Options of every client. Each failure that the client is about to retry is told to `onRetry`; how often that may
 * go on is not for the client to say, whose retries are nested in each other.
 */
export function clientOptions(
  options: KafkaSinkOptions,
  onRetry: (error: Error) => void = () => undefined,
): BaseOptions {
  const { brokers, timeoutMs, tls, sasl } = options;
  return {
    clientId: 'msgx',
    bootstrapBrokers: [...brokers],
    connectTimeout: Math.min(timeoutMs, 5_000),
    requestTimeout: timeoutMs,
    retries: Number.MAX_SAFE_INTEGER,
    retryDelay: (_client, _operation, attempt, _retries, error) => {
      onRetry(error);
      if (!hasCode(error, 'CONCURRENT_TRANSACTIONS')) return RETRY_MS;
      return Math.min(CONCURRENT_RETRY_MS.first * 2 ** (attempt - 1), CONCURRENT_RETRY_MS.most);
    },
    autocreateTopics: false,
    ...(tls === null || tls === undefined
      ? {}
      : {
          tls: tls.ca === undefined ? {} : { ca: tls.ca },
          // A name for SNI must not be an address.
          tlsServerName: brokers.every((broker) => isIP(hostOf(broker)) === 0),
        }),
    ...(sasl === null || sasl === undefined ? {} : { sasl: { ...sasl } }),
  };
}

function hostOf(broker: string): string {
  return broker.slice(0, broker.lastIndexOf(':')).replace(/^\[(.*)\]$/, '$1');
}

/** Whether an error or one inside it carries this error code of the protocol. */
export function hasCode(error: unknown, code: string): boolean {
  return codesOf(error).has(code);
}

/** Error codes of the protocol in an error and in everything inside it. */
export function codesOf(error: unknown, found = new Set<string>()): ReadonlySet<string> {
  if (typeof error !== 'object' || error === null) return found;
  if ('apiId' in error && typeof error.apiId === 'string') found.add(error.apiId);
  if ('errors' in error && Array.isArray(error.errors))
    for (const inner of error.errors) codesOf(inner, found);
  if ('cause' in error) codesOf(error.cause, found);
  return found;
}
