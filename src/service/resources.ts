/**
 * Opens what a command works on: our own PostgreSQL, the mailbox, the dialect. `embedded` becomes a server
 * from npm binaries, joined where it already runs and stopped only by the command that started it.
 */
import { hostname } from 'node:os';
import { randomBytes } from 'node:crypto';
import { mailboxNames } from '../config/mailbox-names.ts';
import type { Config } from '../config/schema.ts';
import type { Dialect } from '../dialect/port.ts';
import { loadDialect } from '../dialect/registry.ts';
import { withVipPersons } from '../dialect/vip-persons.ts';
import { openMailbox } from '../mailbox/open.ts';
import type { Mailbox } from '../mailbox/port.ts';
import { Database } from '../store/database.ts';
import { startEmbedded } from '../store/embedded.ts';
import { migrate } from '../store/migrate.ts';

/** Schema of an embedded mailbox, beside our own in the embedded PostgreSQL. */
export const EMBEDDED_MAILBOX_SCHEMA = 'mailbox';

/** Connections for questions; more of them at once wait for one another. */
const ASKED_CONNECTIONS = 4;
/** Connections for upkeep: it does one thing at a time. */
const UPKEEP_CONNECTIONS = 1;
/** Deadline of one statement of a question, ms: nobody waits longer for a page. */
const ASKED_STATEMENT_MS = 10_000;

export interface Resources {
  readonly config: Config;
  readonly dialect: Dialect;
  readonly database: Database;
  /**
   * The same database over connections of its own, for what people, probes and scrapes ask: no question waits for
   * a station, and no station for a question.
   */
  readonly askedDatabase: Database;
  /** The same over connections of its own, for upkeep: no station waits for one of them. */
  readonly upkeepDatabase: Database;
  readonly databaseUrl: string;
  readonly mailbox: Mailbox;
  /** Unique name of this process towards the database. */
  readonly instance: string;
  /** Closes connections and stops an embedded server that this process started. */
  close(): Promise<void>;
}

/** Loads the dialect that the configuration names. Throws an Error that says what is wrong with it. */
export async function dialectOf(config: Config): Promise<Dialect> {
  const dialect = await loadDialect(config.dialect, {
    timeZone: config.timeZone,
    operationDayCutoff: config.operationDayCutoff,
    maxMessageBytes: config.maxMessageBytes,
    maxDepth: config.maxDepth,
    ignore: config.rules.ignore,
    reference: config.rules.reference,
  });
  return withVipPersons(dialect, config.events.vipPersons);
}

/** URL of our own PostgreSQL; starts or joins the embedded server where the configuration says so. */
export async function databaseUrlOf(
  config: Config,
): Promise<{ readonly url: string; readonly close: () => Promise<void> }> {
  if (config.database.url !== 'embedded') return { url: config.database.url, close: async () => undefined };
  const server = await startEmbedded({ directory: config.database.embeddedDir });
  return { url: server.url, close: () => server.stop() };
}

/** Opens the mailbox adapter that the configuration names. */
export async function mailboxOf(config: Config, dialect: Dialect, databaseUrl: string): Promise<Mailbox> {
  const embedded = config.mailbox.url === 'embedded';
  return openMailbox({
    url: embedded ? databaseUrl : config.mailbox.url,
    schema: embedded ? EMBEDDED_MAILBOX_SCHEMA : null,
    names: mailboxNames(dialect.mailbox, config.mailbox.tables),
    timeoutMs: config.mailbox.timeoutMs,
  });
}

/** Opens everything. An embedded database migrates itself; connections are made when first used. */
export async function openResources(config: Config): Promise<Resources> {
  const dialect = await dialectOf(config);
  const server = await databaseUrlOf(config);
  try {
    if (config.database.url === 'embedded') await migrate(server.url, config.database.schema);
    const instance = `msgx ${hostname().slice(0, 24)} ${String(process.pid)} ${randomBytes(4).toString('hex')}`;
    const database = new Database({
      url: server.url,
      schema: config.database.schema,
      applicationName: instance,
    });
    const askedDatabase = new Database({
      url: server.url,
      schema: config.database.schema,
      applicationName: 'msgx http',
      maxConnections: ASKED_CONNECTIONS,
      statementTimeoutMs: ASKED_STATEMENT_MS,
    });
    const upkeepDatabase = new Database({
      url: server.url,
      schema: config.database.schema,
      // A takeover ends these sessions like those of the stations.
      applicationName: instance,
      maxConnections: UPKEEP_CONNECTIONS,
    });
    const mailbox = await mailboxOf(config, dialect, server.url);
    return {
      config,
      dialect,
      database,
      askedDatabase,
      upkeepDatabase,
      databaseUrl: server.url,
      mailbox,
      instance,
      close: async () => {
        const databases = [database, askedDatabase, upkeepDatabase];
        await Promise.allSettled([mailbox.close(), ...databases.map((each) => each.close())]);
        await server.close();
      },
    };
  } catch (error) {
    await server.close();
    throw error;
  }
}
