/** What several keys must agree on. A check whose keys are wrong already stays silent. */
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import type { Draft } from './evaluate.ts';
import type { ListenAddress } from './kinds.ts';
import type { Config } from './schema.ts';
import { formatDuration, formatSize } from './units.ts';

/** Contradictions that refuse the start, one line each. */
export function crossFaults(draft: Draft): string[] {
  const { pipeline, delivery, mailbox, database } = draft;
  const faults: string[] = [];
  const { retry } = pipeline;
  tiers(faults, 'msgx.pipeline.retry', 'backoff', retry.maxAttempts, retry.backoffMs);
  tiers(faults, 'msgx.pipeline.retry', 'capability-backoff', retry.maxAttempts, retry.capabilityBackoffMs);
  tiers(faults, 'msgx.delivery.retry', 'backoff', delivery.retry.maxAttempts, delivery.retry.backoffMs);

  const [deadline, kept] = [pipeline.backfillDeadlineMs, mailbox.retentionMs];
  if (deadline !== undefined && kept !== undefined && deadline > kept) {
    faults.push(
      `msgx.pipeline.backfill-deadline: ${formatDuration(deadline)} is longer than msgx.mailbox.retention ${formatDuration(kept)}: the row would be gone before its mark is given up`,
    );
  }
  if (mailbox.url === 'embedded' && database.url !== undefined && database.url !== 'embedded') {
    faults.push(
      'msgx.mailbox.url: embedded is a schema in the embedded PostgreSQL, so msgx.database.url must be embedded too',
    );
  }
  if (mailbox.url !== undefined && /^mysql:/.test(mailbox.url) && new URL(mailbox.url).pathname.length < 2) {
    faults.push('msgx.mailbox.url: names no database (mysql://user@host:port/DATABASE)');
  }
  const { listen, tokensFile } = draft.http;
  if (listen !== undefined && tokensFile === null && !isLoopback(listen)) {
    faults.push('msgx.http.listen: is not loopback, so msgx.http.tokens-file is required');
  }
  kafkaFaults(faults, delivery);
  if (pipeline.shadow === true) shadowFaults(faults, delivery);
  return faults;
}

/** What is allowed but probably not meant; `check` prints it, `run` logs it. */
export function crossWarnings(config: Config): string[] {
  const warnings: string[] = [];
  if (config.raw.retentionMs < config.flights.retentionMs) {
    warnings.push(
      `msgx.raw.retention: ${formatDuration(config.raw.retentionMs)} is shorter than msgx.flights.retention ${formatDuration(config.flights.retentionMs)}: verify cannot re-apply the messages of older flights`,
    );
  }
  if (!config.identity.includeDayBoundary) {
    warnings.push(
      'msgx.identity.include-day-boundary: is false: when the sender reuses a sequence number, its message is taken for a duplicate',
    );
  }
  if (config.pipeline.maxHoleHoldMs < config.pipeline.maxCommitDelayMs) {
    warnings.push('msgx.pipeline.max-hole-hold: is shorter than msgx.pipeline.max-commit-delay');
  }
  if (config.pipeline.batchBytes < config.maxMessageBytes) {
    warnings.push(
      `msgx.pipeline.batch-bytes: ${formatSize(config.pipeline.batchBytes)} is less than msgx.max-message-bytes ${formatSize(config.maxMessageBytes)}: such a message makes a batch of its own`,
    );
  }
  return warnings;
}

function tiers(
  faults: string[],
  group: string,
  key: string,
  maxAttempts: number | undefined,
  waits: readonly number[] | undefined,
): void {
  if (maxAttempts === undefined || waits === undefined || waits.length === maxAttempts - 1) return;
  faults.push(
    `${group}.${key}: has ${waits.length} tiers, needs ${maxAttempts - 1} (${group}.max-attempts ${maxAttempts} − 1)`,
  );
}

function kafkaFaults(faults: string[], { target, kafka }: Draft['delivery']): void {
  if (target !== 'kafka') return;
  if (kafka.brokers?.length === 0)
    faults.push('msgx.delivery.kafka.brokers: is required with msgx.delivery.target kafka');
  if (kafka.topicMsg !== undefined && kafka.topicMsg === kafka.topicSchd) {
    faults.push('msgx.delivery.kafka.topic-schd: must differ from msgx.delivery.kafka.topic-msg');
  }
  const { mechanism, username, password } = kafka.sasl;
  if (mechanism === undefined || mechanism === 'none') return;
  if (username === null)
    faults.push(`msgx.delivery.kafka.sasl.username: is required with mechanism ${mechanism}`);
  if (password === null) {
    faults.push(
      `msgx.delivery.kafka.sasl.password or password-file: is required with mechanism ${mechanism}`,
    );
  }
}

/** Shadow mode runs beside the real pipeline and must not write where that one writes. */
function shadowFaults(faults: string[], { target, kafka, journal }: Draft['delivery']): void {
  if (target === 'kafka') {
    for (const [key, topic, taken] of [
      ['topic-msg', kafka.topicMsg, 'flight.msg'],
      ['topic-schd', kafka.topicSchd, 'flight.schd'],
    ] as const) {
      if (topic === taken)
        faults.push(`msgx.delivery.kafka.${key}: shadow mode needs a topic of its own, not ${taken}`);
    }
  }
  if (
    target === 'journal' &&
    journal.dir !== undefined &&
    resolve(journal.dir) === resolve('.msgx/journal')
  ) {
    faults.push('msgx.delivery.journal.dir: shadow mode needs a journal of its own, not .msgx/journal');
  }
}

/** Whether only this machine can reach an address. A name other than localhost may resolve to anything. */
export function isLoopback({ host }: ListenAddress): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}
