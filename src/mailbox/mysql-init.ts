/** `msgx mailbox init`: empty tables for trying out, and the marker that says they are ours. */
import type { MailboxNames } from '../dialect/port.ts';
import type { Statements } from './mysql-connection.ts';
import { findTable, quote } from './mysql-names.ts';
import { MailboxExists } from './port.ts';

const MARKER = 'msgx_mailbox';
const OPTIONS = 'engine = InnoDB default charset = utf8mb4';

/** Creates both tables and the marker, named as configured. The server commits after each: the marker is last. */
export async function init(on: Statements, names: MailboxNames): Promise<void> {
  const { inbound, outbound } = names;
  for (const { table } of [inbound, outbound]) {
    const found = await findTable(on, table);
    if (found !== null) {
      throw new MailboxExists(`table ${found.quoted} is there already: mailbox init never touches one`);
    }
  }
  await on.write(`create table ${dotted(inbound.table)} (
    ${quote(inbound.id)} bigint not null auto_increment primary key,
    ${quote(inbound.text)} longtext,
    ${quote(inbound.received)} datetime(6) null default current_timestamp(6),
    ${quote(inbound.processed)} datetime(6) null,
    ${quote(inbound.status)} varchar(20) default 'VALID'
  ) ${OPTIONS}`);
  await on.write(`create table ${dotted(outbound.table)} (
    ${quote(outbound.id)} bigint not null auto_increment primary key,
    ${quote(outbound.text)} longtext,
    ${quote(outbound.inserted)} datetime(6) null default current_timestamp(6),
    ${quote(outbound.routing)} varchar(64)
  ) ${OPTIONS}`);
  await on.write(`create table ${MARKER} (
    made_by varchar(64) not null,
    made_at datetime(6) not null default current_timestamp(6)
  ) ${OPTIONS}`);
  await on.write(`insert into ${MARKER} (made_by) values ('msgx mailbox init')`);
}

/** Whether the marker is in sight. */
export async function isOurs(on: Statements): Promise<boolean> {
  return (await findTable(on, MARKER)) !== null;
}

function dotted(name: string): string {
  return name.split('.').map(quote).join('.');
}
