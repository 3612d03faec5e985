/** `msgx decode FILE…`: tries out the dialect on files; needs no mailbox and no database. */
import type { Command } from 'commander';
import type { Dialect } from '../../dialect/port.ts';
import type { DecodeOutcome, Fault } from '../../domain/message.ts';
import { complain, printJson } from '../output.ts';
import { ExpectedFailure, addCommand, failed, type CommonOptions } from '../shell.ts';

interface DecodeOptions extends CommonOptions {
  readonly timeZone?: string;
}

export function register(program: Command): void {
  addCommand(program, {
    usage: 'decode <file...>',
    description:
      'decode message files (- is stdin) to JSON; exit 1 where one would be MALFORMED or CODEC_ERROR',
  })
    .option('--time-zone <zone>', "the airport's time zone, instead of the configured one")
    .action(decodeFiles);
}

/** A message as printed. */
type Decoded = { readonly file: string; readonly charset: string } & DecodeOutcome;

async function decodeFiles(files: readonly string[], options: DecodeOptions): Promise<void> {
  const dialect = await dialectFor(options);
  const layout = files.length > 1 || options.json === true ? 'line' : 'indented';
  let refused = false;
  for (const file of files) {
    const decoded = await decodeFile(dialect, file);
    if (decoded === null) {
      refused = true;
      continue;
    }
    printJson(decoded, layout);
    if (decoded.outcome === 'decoded') continue;
    refused = true;
    for (const { line, column, reason, message } of decoded.faults) {
      const place = line === null ? file : `${file}:${line}:${column ?? 1}`;
      complain(`${place}: ${reason} ${message}`);
    }
  }
  if (refused) throw failed();
}

/** The configured dialect; without a configuration file the default one. */
async function dialectFor(options: DecodeOptions): Promise<Dialect> {
  const { loadDecodingConfig } = await import('../../config/load.ts');
  const { loadDialect } = await import('../../dialect/registry.ts');
  const { DialectLoadError } = await import('../../dialect/load-error.ts');
  const result = loadDecodingConfig({
    ...(options.config === undefined ? {} : { file: options.config }),
    env: options.timeZone === undefined ? process.env : { ...process.env, MSGX_TIME_ZONE: options.timeZone },
  });
  if (!result.ok) throw new ExpectedFailure(result.faults, 2);
  const { config } = result;
  try {
    return await loadDialect(config.dialect, {
      timeZone: config.timeZone,
      operationDayCutoff: config.operationDayCutoff,
      maxMessageBytes: config.maxMessageBytes,
      maxDepth: config.maxDepth,
      ignore: config.rules.ignore,
      reference: config.rules.reference,
    });
  } catch (error) {
    if (error instanceof DialectLoadError)
      throw new ExpectedFailure(error.message.split('\n'), 2, { cause: error });
    throw error;
  }
}

/** Null where the file cannot be read, which has been said then. */
async function decodeFile(dialect: Dialect, file: string): Promise<Decoded | null> {
  const { readFile } = await import('node:fs/promises');
  const { buffer } = await import('node:stream/consumers');
  let bytes: Uint8Array;
  try {
    bytes = file === '-' ? await buffer(process.stdin) : await readFile(file);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    complain(`${file}: cannot be read: ${code}`);
    return null;
  }
  const { charset, ...read } = dialect.toText(bytes);
  if (read.text !== null) return { file, charset, ...dialect.decode(read.text) };
  const fault: Fault = {
    reason: read.reason,
    message: `the bytes are no text in ${charset}`,
    line: null,
    column: null,
  };
  return { file, charset, outcome: 'codec-error', reason: read.reason, faults: [fault], header: null };
}
