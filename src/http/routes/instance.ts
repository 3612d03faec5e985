/** /api/v1/instance: who holds the lease, and what msgx takes of its PostgreSQL: room and connections. */
import type { FastifyInstance } from 'fastify';
import type { Database } from '../../store/database.ts';
import { selectLease } from '../../store/lease.ts';
import { selectLargestTables, selectServerUse } from '../../store/server.ts';
import type { Access } from '../access.ts';
import { described, json } from '../openapi/description.ts';
import { about, count, flag, id, list, nullable, object, text } from '../openapi/shapes.ts';

export interface InstanceOptions {
  readonly access: Access;
  readonly database: Database;
}

/** Tables that are named. */
const LARGEST = 5;

const INSTANCE = object({
  lease: object({
    epoch: about(id, 'Raised by each takeover.'),
    holder: about(nullable(text), 'Host, process and a mark of the instance that took it last.'),
    held: about(flag, 'False once it has expired: no instance works.'),
  }),
  database: object({
    bytes: about(count, 'The whole database, with whatever else lies in it.'),
    ownBytes: about(count, 'Our tables with their indexes.'),
    largest: about(list(object({ table: text, bytes: count })), 'Our largest tables.'),
  }),
  connections: object({
    used: about(count, 'Sessions of the whole server.'),
    own: about(count, 'Ours, of all instances.'),
    limit: about(count, 'What the server lets everybody but superusers have.'),
  }),
});

/** Registers the route. */
export function registerInstance(app: FastifyInstance, { access, database }: InstanceOptions): void {
  const instance = described(access, {
    name: 'getInstance',
    summary: 'Who holds the lease, and what msgx takes of its PostgreSQL.',
    roles: ['viewer'],
    answers: { 200: json(INSTANCE) },
  });
  app.get('/api/v1/instance', instance, async () => {
    const { epoch, holder, expired } = await selectLease(database);
    const use = await selectServerUse(database);
    const largest = await selectLargestTables(database, LARGEST);
    return {
      lease: { epoch: epoch.toString(), holder, held: holder !== null && !expired },
      database: {
        bytes: Number(use.databaseBytes),
        ownBytes: Number(use.schemaBytes),
        largest: largest.map(({ table, bytes }) => ({ table, bytes: Number(bytes) })),
      },
      connections: { used: use.connections, own: use.ownConnections, limit: use.connectionLimit },
    };
  });
}
