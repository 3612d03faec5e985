/** The program's logger: pino, as JSON lines or as text for people, without secrets. */
import { pino, type DestinationStream, type Logger } from 'pino';
import { hideCredentials } from './secrets.ts';

export type { Logger };

export interface LoggerOptions {
  /** pino's names, `silent` included. */
  readonly level: string;
  readonly format: 'json' | 'text';
  /** stdout for the service, stderr for commands whose stdout is data. Default stdout. */
  readonly output?: 'stdout' | 'stderr' | DestinationStream;
}

/** Creates the root logger. IDs (BigInt) in fields become text, as at every JSON border. */
export function createLogger(options: LoggerOptions): Logger {
  const sink = destinationOf(options.output ?? 'stdout');
  const line = options.format === 'text' ? textLine : (json: string) => json;
  return pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: withoutBigInt },
      redact: { paths: SECRET_PATHS, censor: '***' },
    },
    { write: (json: string) => sink.write(hideCredentials(line(json))) },
  );
}

/** The logger of one station or room: its lines carry `station`. */
export function stationLogger(logger: Logger, station: string): Logger {
  return logger.child({ station });
}

const SECRET_PATHS = ['password', 'token', 'secret', 'authorization', 'cookie'].flatMap((name) => [
  name,
  `*.${name}`,
  `*.*.${name}`,
]);

function destinationOf(output: 'stdout' | 'stderr' | DestinationStream): DestinationStream {
  if (typeof output === 'object') return output;
  const sink = pino.destination({ dest: output === 'stdout' ? 1 : 2, sync: true });
  sink.on('error', () => {
    // Nobody reads the log any more (a closed pipe); the service goes on.
  });
  return sink;
}

function withoutBigInt(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, textOfBigInt(value)]));
}

function textOfBigInt(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  return Array.isArray(value) ? value.map(textOfBigInt) : value;
}

/** `2025-01-23T05:35:00.123Z INFO  [pump] message name=value`, an error's stack on the lines below. */
function textLine(json: string): string {
  const { time, level, station, msg, err, ...fields } = JSON.parse(json) as Record<string, unknown>;
  const parts = [String(time), String(level).toUpperCase().padEnd(5)];
  if (typeof station === 'string') parts.push(`[${station}]`);
  if (typeof msg === 'string') parts.push(msg);
  for (const [name, value] of Object.entries(fields)) parts.push(`${name}=${plain(value)}`);
  const stack = typeof err === 'object' && err !== null && 'stack' in err ? `\n${String(err.stack)}` : '';
  return `${parts.join(' ')}${stack}\n`;
}

function plain(value: unknown): string {
  return typeof value === 'string' && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);
}
