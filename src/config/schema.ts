/**
 * Every key of the configuration, once (contract, "Configuration"): the types of Config, the environment
 * variables, the validation and docs/configuration.md all come from this tree. A field's name is the key in
 * camel case; durations end in Ms, as they are read as milliseconds.
 */
import {
  databaseUrl,
  duration,
  durations,
  flag,
  integer,
  list,
  listOrNone,
  listenAddress,
  oneOf,
  optionalList,
  optionalText,
  size,
  text,
  watermark,
} from './kinds.ts';
import {
  CLOCK_TIME,
  IATA,
  IDENTIFIER,
  MESSAGE_TYPE,
  NON_EMPTY,
  PATH,
  SCHEMA,
  SENDER,
  TOPIC,
} from './rules.ts';
import { BROKER, START_REQUEST, TYPE_RULE, ZONE, unknownZone } from './rules.ts';
import { REQUIRED, type Setting } from './setting.ts';

/** Longest retention: ten years. */
const RETENTION = { max: '3650d' } as const;

function tableName(about: string): Setting<string | null> {
  return optionalText(IDENTIFIER, { about: `${about}; unset: the dialect's name.` });
}

function route(of: string): Setting<string | null> {
  return optionalText(NON_EMPTY, { about: `ROUTINGID written with ${of}; unset: NULL.` });
}

const pipeline = {
  cutoverWatermark: watermark({
    audience: 'essential',
    about:
      'Where the first start begins: min (all that is there), zero, max (only what comes), or the watermark itself; unset: an empty mailbox starts at 0, one whose smallest ID is above 1 starts nothing. A cursor once seeded ignores it.',
  }),
  pollIntervalMs: duration({
    fallback: '500ms',
    max: '1s',
    about: 'Pause of the inbox after a round that was not full.',
  }),
  claimBatch: integer({
    fallback: 500,
    min: 1,
    max: 10_000,
    about: 'Most messages the inbox enqueues in one transaction.',
  }),
  commitBatch: integer({
    fallback: 500,
    min: 1,
    max: 10_000,
    about: 'Most messages the pump processes in one transaction; 1 = one message per transaction.',
  }),
  batchBytes: size({
    fallback: '16 MiB',
    min: '64 KiB',
    max: '1 GiB',
    about: 'Most bytes of text in one batch.',
  }),
  maxCommitDelayMs: duration({
    fallback: '30s',
    max: '24h',
    about: 'How long a missing ID is waited for before it may be released as a hole.',
  }),
  maxHoleHoldMs: duration({
    fallback: '15m',
    max: '7d',
    about: 'How long a hole is held at most while a writer that could still fill it lives.',
  }),
  holeRelease: oneOf(['elapsed', 'proved'], {
    fallback: 'elapsed',
    about:
      'elapsed: wait max-commit-delay in any case; proved: release as soon as all writers that could fill the hole have ended (for mailboxes that assign IDs inside the inserting transaction).',
  }),
  lateScanIntervalMs: duration({
    fallback: '60s',
    max: '24h',
    about: 'Pause between two scans for late commits.',
  }),
  lateScanWindow: integer({
    fallback: 10_000,
    min: 0,
    max: 10_000_000,
    about: 'IDs below the watermark that each late scan looks at again.',
  }),
  retry: {
    maxAttempts: integer({ fallback: 5, min: 1, max: 100, about: 'Attempts after which a message is DEAD.' }),
    backoffMs: durations({
      fallback: ['1s', '5s', '30s', '2m'],
      about: 'Waits between the attempts: max-attempts − 1 tiers.',
    }),
    capabilityBackoffMs: durations({
      fallback: ['1s', '1s', '1s', '1s'],
      about: 'The same for CODEC_ERROR and UNSUPPORTED: max-attempts − 1 tiers.',
    }),
  },
  backfillIntervalMs: duration({
    fallback: '5s',
    max: '1h',
    about: 'Pause of the backfill after a round that was not full.',
  }),
  backfillBatch: integer({ fallback: 500, min: 1, max: 10_000, about: 'Most marks written in one round.' }),
  backfillMaxAttempts: integer({
    fallback: 20,
    min: 1,
    max: 100_000,
    about: 'Attempts after which an owed mark raises an alarm; it never gives up for this.',
  }),
  backfillDeadlineMs: duration({
    fallback: '24h',
    ...RETENTION,
    about: 'R: age at which an owed mark is abandoned; at most mailbox.retention.',
  }),
  eventRetentionMs: duration({
    fallback: '7d',
    ...RETENTION,
    about: 'How long SENT events are kept; no other is deleted.',
  }),
  shadow: flag({
    fallback: false,
    about: 'Process everything but write no mark and no COUTMSGS; needs topics or a journal of its own.',
  }),
} as const;

const delivery = {
  target: oneOf(['journal', 'kafka'], {
    fallback: 'journal',
    audience: 'essential',
    about: 'Where events go.',
  }),
  kafka: {
    brokers: list(BROKER, {
      fallback: [],
      audience: 'essential',
      about: 'Bootstrap brokers; required with target kafka.',
    }),
    topicMsg: text(TOPIC, {
      fallback: 'flight.msg',
      audience: 'essential',
      about: 'Topic of the change events; {airport} is replaced by the airport.',
    }),
    topicSchd: text(TOPIC, {
      fallback: 'flight.schd',
      audience: 'essential',
      about: 'Compacted topic of the current states; {airport} is replaced by the airport.',
    }),
    tls: flag({ fallback: false, audience: 'essential', about: 'Encrypt the connections to the brokers.' }),
    sasl: {
      mechanism: oneOf(['none', 'PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'], {
        fallback: 'none',
        audience: 'essential',
        about: 'How to authenticate with the brokers.',
      }),
      username: optionalText(NON_EMPTY, { audience: 'essential', about: 'User name for the brokers.' }),
      password: optionalText(NON_EMPTY, {
        audience: 'essential',
        about: 'Password for the brokers.',
        secret: true,
        fromFile: true,
      }),
    },
  },
  journal: {
    dir: text(PATH, {
      fallback: '.msgx/journal',
      about: 'Folder of the JSON Lines journal, fsynced per batch.',
    }),
  },
  timeoutMs: duration({ fallback: '30s', max: '10m', about: 'Deadline of one send.' }),
  batch: integer({ fallback: 500, min: 1, max: 10_000, about: 'Most events of one send.' }),
  retry: {
    maxAttempts: integer({ fallback: 10, min: 1, max: 100, about: 'Attempts after which an event is DEAD.' }),
    backoffMs: durations({
      fallback: ['1s', '2s', '5s', '10s', '10s', '10s', '10s', '10s', '10s'],
      about: 'Waits between the attempts: max-attempts − 1 tiers.',
    }),
  },
} as const;

/** All keys under `msgx.`, in the order of the reference. */
export const SETTINGS = {
  airport: text(IATA, {
    fallback: REQUIRED,
    audience: 'essential',
    about: 'The airport this pipeline serves.',
  }),
  timeZone: text(ZONE, {
    fallback: 'Asia/Shanghai',
    audience: 'essential',
    about: "The airport's time zone.",
    check: unknownZone,
  }),
  database: {
    url: databaseUrl({
      audience: 'essential',
      schemes: { postgres: 'postgres', postgresql: 'postgres' },
      about: 'Our own PostgreSQL, 14 or newer; embedded = npm binaries in embedded-dir.',
    }),
    embeddedDir: text(PATH, {
      fallback: '.msgx/data',
      audience: 'essential',
      about: 'Folder of the embedded PostgreSQL.',
    }),
    schema: text(SCHEMA, { fallback: 'msgx', audience: 'essential', about: 'Our schema in it.' }),
  },
  mailbox: {
    url: databaseUrl({
      audience: 'essential',
      schemes: { mysql: 'mysql', mariadb: 'mysql', postgres: 'postgres', postgresql: 'postgres' },
      about:
        'The shared mailbox (mysql:// serves MySQL and MariaDB); embedded = a schema in the embedded PostgreSQL.',
    }),
    tables: {
      inbound: {
        table: tableName('Table of inbound messages'),
        id: tableName('Its ascending key'),
        text: tableName('Its message text'),
        received: tableName('Its time of receipt'),
        processed: tableName('Its processing mark'),
        status: tableName("Its status, the upstream's"),
      },
      outbound: {
        table: tableName('Table of outbound messages'),
        id: tableName('Its ascending key'),
        text: tableName('Its message text'),
        inserted: tableName('Its time of insertion'),
        routing: tableName('Its route'),
      },
    },
    timeoutMs: duration({ fallback: '10s', max: '10m', about: 'Deadline of every call to the mailbox.' }),
    retentionMs: duration({
      fallback: '72h',
      ...RETENTION,
      about: 'R_keep: how long the owner of the mailbox keeps its rows.',
    }),
  },
  pipeline,
  delivery,
  http: {
    listen: listenAddress({
      fallback: '127.0.0.1:8080',
      audience: 'essential',
      about: 'Address of API and console; port 0 = any free one. Without tokens-file only loopback.',
    }),
    tokensFile: optionalText(PATH, {
      audience: 'essential',
      about: 'File of access tokens with their roles: sender, viewer, operator.',
    }),
  },
  sender: text(SENDER, { fallback: 'MSGX', about: 'Our SNDR in outbound messages.' }),
  dialect: text(NON_EMPTY, {
    fallback: 'sis',
    about: 'A built-in profile, the path of a profile file, or a module.',
  }),
  schd: {
    flushIntervalMs: duration({
      fallback: '2s',
      max: '1h',
      about: 'Pause between two deliveries of current states.',
    }),
    flushLimit: integer({ fallback: 500, min: 1, max: 10_000, about: 'Most flights of one such delivery.' }),
  },
  identity: {
    includeDayBoundary: flag({
      fallback: true,
      about:
        "Whether DTTM's date is part of a message's identity; stored at first start, a changed value is refused.",
    }),
  },
  rules: {
    ignore: list(TYPE_RULE, {
      fallback: ['LDM', 'REGN', 'RSTA', 'EROR'],
      about: 'Message types, or TYPE/STYP, that are skipped.',
    }),
    reference: optionalList(MESSAGE_TYPE, { about: "Reference data types; unset: the dialect's list." }),
  },
  requests: {
    timeoutMs: duration({
      fallback: '5m',
      max: '24h',
      about: 'Age at which a request without answer is EXPIRED.',
    }),
    clockSkewMs: duration({
      fallback: '30s',
      min: '0ms',
      max: '24h',
      about: 'How far the clock of the upstream may be behind ours.',
    }),
    onStart: listOrNone(START_REQUEST, {
      about: 'Requests at start: the schedule of today or tomorrow, all reference types, or single ones.',
    }),
    dailyAt: optionalText(CLOCK_TIME, {
      about: "Local time at which the next day's schedule is requested.",
      orNone: true,
    }),
    errorReports: flag({ fallback: true, about: 'Whether rejected messages are reported to the upstream.' }),
    onDeadSchedule: flag({
      fallback: false,
      about: 'Whether the day of a schedule that ended DEAD is requested again.',
    }),
    routing: {
      schedule: route('schedule requests'),
      reference: route('reference data requests'),
      errorReport: route('error reports'),
    },
  },
  events: {
    names: flag({
      fallback: false,
      about: 'Whether events carry the names of airlines, airports … from reference data.',
    }),
    vipPersons: flag({ fallback: false, about: 'Whether events carry the codes of VIP persons.' }),
  },
  operationDayCutoff: text(CLOCK_TIME, {
    fallback: '00:00',
    about: 'Local time at which the operation day begins.',
  }),
  maxMessageBytes: size({
    fallback: '8 MiB',
    min: '1 KiB',
    max: '256 MiB',
    about: 'Longest message, UTF-8 bytes; beyond: MALFORMED (too-large).',
  }),
  maxDepth: integer({
    fallback: 64,
    min: 2,
    max: 1_000,
    about: 'Deepest element of a message, MSG being depth 1; beyond: MALFORMED (too-deep).',
  }),
  raw: {
    retentionMs: duration({ fallback: '30d', ...RETENTION, about: 'How long message texts are kept.' }),
  },
  flights: {
    retentionMs: duration({
      fallback: '30d',
      ...RETENTION,
      about: 'Age of a flight, from the later of operation day and last update, at which it is archived.',
    }),
  },
  snapLog: {
    retentionMs: duration({ fallback: '30d', ...RETENTION, about: 'How long the snapshot log is kept.' }),
  },
  procState: {
    retentionMs: duration({
      fallback: '90d',
      ...RETENTION,
      about: 'Age at which processing records are archived.',
    }),
  },
  log: {
    level: oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
      fallback: 'info',
      about: 'Least level that is logged.',
    }),
    format: oneOf(['json', 'text'], { fallback: 'json', about: 'JSON lines, or text for people.' }),
  },
} as const;

type Values<T> = { readonly [K in keyof T]: T[K] extends Setting<infer V> ? V : Values<T[K]> };

/** The validated configuration, read-only: camelCase fields, durations in ms, sizes in bytes. */
export type Config = Values<typeof SETTINGS>;
