/** `msgx flight FLID`: current state, where each field came from, versions, the messages that touched it. */
import type { Command } from 'commander';
import type { Json, JsonObject } from '../../domain/json.ts';
import type { FlightMessageRow, FlightRow } from '../../store/browse.ts';
import { print, printJson, table } from '../output.ts';
import { ExpectedFailure, addCommand, withConfig, type CommonOptions } from '../shell.ts';

interface FlightOptions extends CommonOptions {
  readonly history?: true;
}

export function register(program: Command): void {
  addCommand(program, {
    usage: 'flight <flid>',
    description: 'current state of a flight and which message set each field',
  })
    .option('--history', 'also the messages that touched it, newest first')
    .action(showFlight);
}

async function showFlight(flid: string, options: FlightOptions): Promise<void> {
  const { config } = withConfig(options);
  const { withSchema } = await import('../resources.ts');
  const { selectFlight, selectFlightHistory, selectTerminalTimes } = await import('../../store/browse.ts');
  const { lineage } = await import('../../domain/stamps.ts');
  await withSchema(config, async ({ database }) => {
    const row = await selectFlight(database, flid);
    if (row === null) throw new ExpectedFailure(`no flight ${flid}`);
    const messages = options.history === true ? await selectFlightHistory(database, flid, 1_000) : [];
    const setBy = lineage(row.stamps as unknown as Parameters<typeof lineage>[0]);
    const setAt = await selectTerminalTimes(database, [...new Set(setBy.values())]);
    await show(row, { setBy, setAt, messages }, options);
  });
}

interface Origin {
  /** Register → the message that set it. */
  readonly setBy: ReadonlyMap<string, string>;
  /** Message → when it ended, as the database gives it. */
  readonly setAt: ReadonlyMap<string, string>;
  readonly messages: readonly FlightMessageRow[];
}

async function show(row: FlightRow, origin: Origin, options: FlightOptions): Promise<void> {
  const { canonicalise } = await import('../../domain/state.ts');
  const { toMillis, toTimestamp } = await import('../../store/time.ts');
  const { flid, version, operationDay, deleted, archived, lastMsgId } = row;
  const { setBy } = origin;
  const state = canonicalise(row.state);
  const updatedAt = toTimestamp(toMillis(row.updatedAt));
  const setAt = new Map([...origin.setAt].map(([id, time]) => [id, toTimestamp(toMillis(time))]));
  const messages = origin.messages.map((message) => ({
    ...message,
    terminalAt: message.terminalAt === null ? null : toTimestamp(toMillis(message.terminalAt)),
  }));
  if (options.json === true) {
    printJson({
      ...{ flid, version, operationDay, deleted, archived, updatedAt, lastMsgId },
      flight: state,
      lineage: Object.fromEntries(setBy),
      setAt: Object.fromEntries([...setBy].map(([field, id]) => [field, setAt.get(id) ?? null])),
      ...(options.history === true ? { messages } : {}),
    });
    return;
  }
  print(
    `flight ${flid}, version ${version}, operation day ${operationDay}${deleted ? ', deleted' : ''}${archived ? ', archived' : ''}`,
    `last message ${lastMsgId.toString()}, updated ${updatedAt}`,
    '',
    ...table(
      ['field', 'value', 'set by', 'at'],
      fieldRows(state, setBy).map((cells) => [...cells, setAt.get(cells[2] ?? '') ?? '']),
    ),
  );
  if (options.history !== true) return;
  print(
    '',
    ...table(
      ['message', 'type', 'state', 'version', 'changed', 'superseded', 'at'],
      messages.map((message) => [
        message.msgId,
        `${message.type ?? ''}/${message.styp ?? ''}`,
        message.state,
        message.stateVersion,
        message.changed.join(', '),
        message.superseded.join(', '),
        message.terminalAt,
      ]),
    ),
  );
}

/** Every known value; an entry of a collection takes a line. */
function fieldRows(state: JsonObject, setBy: ReadonlyMap<string, string>): string[][] {
  const rows: string[][] = [];
  const walk = (path: string, value: Json) => {
    if (value === null || path === 'flid') return;
    if (Array.isArray(value)) {
      for (const entry of value as readonly Json[]) rows.push([path, compact(entry), setBy.get(path) ?? '']);
    } else if (typeof value === 'object') {
      for (const [name, part] of Object.entries(value as JsonObject))
        walk(path === '' ? name : `${path}.${name}`, part);
    } else {
      rows.push([path, String(value), setBy.get(path) ?? '']);
    }
  };
  walk('', state);
  return rows;
}

/** The known attributes of an entry. */
function compact(entry: Json): string {
  if (entry === null || typeof entry !== 'object') return String(entry);
  return Object.entries(entry as JsonObject)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name} ${typeof value === 'object' ? `(${compact(value)})` : String(value)}`)
    .filter((text) => !text.endsWith('()'))
    .join(', ');
}
