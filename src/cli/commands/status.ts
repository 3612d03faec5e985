/** `msgx status`: what is stuck and why, in ten seconds. */
import type { Command } from 'commander';
import type { StatusDocument } from '../../service/status.ts';
import { print, printJson, table } from '../output.ts';
import { addCommand, withConfig, type CommonOptions } from '../shell.ts';

export function register(program: Command): void {
  addCommand(program, {
    usage: 'status',
    description: 'role, watermark, holes, head of line and why it waits, counts, outbox, backfill, pauses',
  }).action(showStatus);
}

async function showStatus(options: CommonOptions): Promise<void> {
  const { config } = withConfig(options);
  const { withSchema } = await import('../resources.ts');
  const { StatusReader } = await import('../../service/status.ts');
  await withSchema(config, async ({ database, mailbox }) => {
    const status = await new StatusReader(config, database, mailbox, null).read();
    if (options.json === true) printJson(status);
    else print(...linesOf(status));
  });
}

function linesOf(status: StatusDocument): string[] {
  const { inbox, head, counts, outbox, backfill, last } = status;
  const lines = [
    `${status.airport}: ${status.role === 'none' ? 'no instance is running' : status.role}${status.shadow ? ', shadow mode' : ''}`,
    `watermark ${inbox.watermark}${inbox.highest === null ? '' : `, mailbox up to ${inbox.highest}`}${inbox.lag > 0 ? `, ${inbox.lag} IDs behind` : ''}`,
  ];
  for (const hole of inbox.holes.slice(0, 5)) {
    const range = hole.from === hole.to ? hole.from : `${hole.from}–${hole.to}`;
    lines.push(
      `hole ${range} since ${hole.firstSeenAt}, ${hole.held ? 'held by a writer' : `released at ${hole.releasesAt}`}`,
    );
  }
  if (inbox.holes.length > 5) lines.push(`and ${inbox.holes.length - 5} more holes`);
  lines.push(
    head === null
      ? 'head of line: none, everything is processed'
      : `head of line: ${head.msgId}${head.type === null ? '' : ` ${head.type}/${head.styp ?? ''}`} ${head.state}, ${head.why}`,
  );
  for (const { name, state, by, reason } of status.stations) {
    if (state === 'paused') lines.push(`${name} paused by ${by ?? 'somebody'}: ${reason ?? ''}`);
  }
  for (const { job, failures, error } of status.jobs) {
    if (failures > 0) lines.push(`upkeep job ${job} has failed ${failures} times: ${error ?? ''}`);
  }
  if (counts.deadSchedules > 0) lines.push(`${counts.deadSchedules} dead schedules: look at these first`);
  lines.push(
    '',
    ...table(['state', 'messages'], Object.entries(counts.byState)),
    '',
    ...(Object.keys(counts.byClass).length === 0
      ? []
      : [...table(['dead by class', 'messages'], Object.entries(counts.byClass)), '']),
    ...table(
      ['target', 'pending', 'oldest s', 'dead'],
      outbox.map(({ target, pending, oldestSeconds, dead }) => [
        target,
        pending,
        Math.round(oldestSeconds),
        dead,
      ]),
    ),
    '',
    `marks owed ${backfill.owed}, abandoned ${Object.entries(backfill.abandoned)
      .map(([reason, marks]) => `${marks} ${reason}`)
      .join(', ')}; permanent holes ${inbox.permanentHoles}, late arrivals ${inbox.lateArrivals}`,
    `last enqueued ${last.enqueuedAt ?? 'never'}, processed ${last.processedAt ?? 'never'}, sent ${last.sentAt ?? 'never'}, marked ${last.markedAt ?? 'never'}`,
  );
  return lines;
}
