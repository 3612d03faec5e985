import { expect, test } from 'vitest';
import { configFromObject } from '../../src/config/load.ts';
import { shownConfig } from '../../src/config/redact.ts';
import { MINIMAL, valid } from './kit.ts';

/** The contract's table, key by key. */
const DEFAULTS = {
  'msgx.airport': 'HGH',
  'msgx.time-zone': 'Asia/Shanghai',
  'msgx.database.url': 'embedded',
  'msgx.database.embedded-dir': '.msgx/data',
  'msgx.database.schema': 'msgx',
  'msgx.mailbox.url': 'embedded',
  'msgx.mailbox.tables.inbound.table': null,
  'msgx.mailbox.tables.inbound.id': null,
  'msgx.mailbox.tables.inbound.text': null,
  'msgx.mailbox.tables.inbound.received': null,
  'msgx.mailbox.tables.inbound.processed': null,
  'msgx.mailbox.tables.inbound.status': null,
  'msgx.mailbox.tables.outbound.table': null,
  'msgx.mailbox.tables.outbound.id': null,
  'msgx.mailbox.tables.outbound.text': null,
  'msgx.mailbox.tables.outbound.inserted': null,
  'msgx.mailbox.tables.outbound.routing': null,
  'msgx.mailbox.timeout': '10s',
  'msgx.mailbox.retention': '3d',
  'msgx.pipeline.cutover-watermark': null,
  'msgx.pipeline.poll-interval': '500ms',
  'msgx.pipeline.claim-batch': '500',
  'msgx.pipeline.commit-batch': '500',
  'msgx.pipeline.batch-bytes': '16 MiB',
  'msgx.pipeline.max-commit-delay': '30s',
  'msgx.pipeline.max-hole-hold': '15m',
  'msgx.pipeline.hole-release': 'elapsed',
  'msgx.pipeline.late-scan-interval': '1m',
  'msgx.pipeline.late-scan-window': '10000',
  'msgx.pipeline.retry.max-attempts': '5',
  'msgx.pipeline.retry.backoff': '[1s, 5s, 30s, 2m]',
  'msgx.pipeline.retry.capability-backoff': '[1s, 1s, 1s, 1s]',
  'msgx.pipeline.backfill-interval': '5s',
  'msgx.pipeline.backfill-batch': '500',
  'msgx.pipeline.backfill-max-attempts': '20',
  'msgx.pipeline.backfill-deadline': '1d',
  'msgx.pipeline.event-retention': '7d',
  'msgx.pipeline.shadow': 'false',
  'msgx.delivery.target': 'journal',
  'msgx.delivery.kafka.brokers': '[]',
  'msgx.delivery.kafka.topic-msg': 'flight.msg',
  'msgx.delivery.kafka.topic-schd': 'flight.schd',
  'msgx.delivery.kafka.tls': 'false',
  'msgx.delivery.kafka.sasl.mechanism': 'none',
  'msgx.delivery.kafka.sasl.username': null,
  'msgx.delivery.kafka.sasl.password': null,
  'msgx.delivery.journal.dir': '.msgx/journal',
  'msgx.delivery.timeout': '30s',
  'msgx.delivery.batch': '500',
  'msgx.delivery.retry.max-attempts': '10',
  'msgx.delivery.retry.backoff': '[1s, 2s, 5s, 10s, 10s, 10s, 10s, 10s, 10s]',
  'msgx.http.listen': '127.0.0.1:8080',
  'msgx.http.tokens-file': null,
  'msgx.sender': 'MSGX',
  'msgx.dialect': 'sis',
  'msgx.schd.flush-interval': '2s',
  'msgx.schd.flush-limit': '500',
  'msgx.identity.include-day-boundary': 'true',
  'msgx.rules.ignore': '[LDM, REGN, RSTA, EROR]',
  'msgx.rules.reference': null,
  'msgx.requests.timeout': '5m',
  'msgx.requests.clock-skew': '30s',
  'msgx.requests.on-start': 'none',
  'msgx.requests.daily-at': null,
  'msgx.requests.error-reports': 'true',
  'msgx.requests.on-dead-schedule': 'false',
  'msgx.requests.routing.schedule': null,
  'msgx.requests.routing.reference': null,
  'msgx.requests.routing.error-report': null,
  'msgx.events.names': 'false',
  'msgx.events.vip-persons': 'false',
  'msgx.operation-day-cutoff': '00:00',
  'msgx.max-message-bytes': '8 MiB',
  'msgx.max-depth': '64',
  'msgx.raw.retention': '30d',
  'msgx.flights.retention': '30d',
  'msgx.snap-log.retention': '30d',
  'msgx.proc-state.retention': '90d',
  'msgx.log.level': 'info',
  'msgx.log.format': 'json',
};

test('every key has the default of the contract', () => {
  expect(shownConfig(valid(configFromObject(MINIMAL)))).toEqual(DEFAULTS);
});

test('values are typed: milliseconds, bytes, BigInt, addresses', () => {
  const config = valid(
    configFromObject({
      ...MINIMAL,
      pipeline: { 'cutover-watermark': '9223372036854775807' },
      http: { listen: '[::1]:0' },
    }),
  );
  expect(config.pipeline.pollIntervalMs).toBe(500);
  expect(config.pipeline.retry.backoffMs).toEqual([1_000, 5_000, 30_000, 120_000]);
  expect(config.pipeline.batchBytes).toBe(16 * 1024 * 1024);
  expect(config.pipeline.cutoverWatermark).toBe(9_223_372_036_854_775_807n);
  expect(config.http.listen).toEqual({ host: '::1', port: 0 });
});

test('the configuration is read-only throughout', () => {
  const config = valid(configFromObject(MINIMAL));
  expect(Object.isFrozen(config.pipeline.retry.backoffMs)).toBe(true);
  expect(() => Object.assign(config.delivery.kafka, { tls: true })).toThrow(TypeError);
  // The defaults themselves are shared between configurations and must not be.
  expect(valid(configFromObject(MINIMAL)).rules.ignore).toEqual(['LDM', 'REGN', 'RSTA', 'EROR']);
});
