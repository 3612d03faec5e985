import { describe, expect, it } from 'vitest';
import { statement } from '../../src/store/statement.ts';
import { SchemaFault, checkSchema, migrate, migrations } from '../../src/store/migrate.ts';
import { createTestDatabase, postgresMissing } from '../kit/postgres.ts';

describe.skipIf(postgresMissing !== null)('migrate', () => {
  it('creates everything once and then does nothing', async () => {
    const { url, client } = await createTestDatabase({ blank: true });
    const results = await Promise.all([migrate(url, 'north'), migrate(url, 'north')]);
    expect(results.map(({ applied }) => applied.length).sort()).toEqual([0, (await migrations()).length]);
    expect(await migrate(url, 'north')).toEqual({ applied: [], views: false });
    const { rows } = await client.query<{ n: string }>(
      "select count(*) n from information_schema.views where table_schema = 'north'",
    );
    expect(rows[0]?.n).toBe('12');
  });

  it('refuses a changed migration, an unknown one and an old catalogue, and says what to do', async () => {
    const { database, client, url } = await createTestDatabase();
    await checkSchema(database);
    await client.query("update schema_catalogue set hash = 'old'");
    await expect(checkSchema(database)).rejects.toThrow(/views .* run msgx migrate/);
    expect(await migrate(url, 'msgx')).toEqual({ applied: [], views: true });
    await client.query("update schema_migration set checksum = 'x'");
    await expect(migrate(url, 'msgx')).rejects.toThrow(SchemaFault);
    await client.query("insert into schema_migration values (9999, '9999_future', 'x')");
    await expect(checkSchema(database)).rejects.toThrow(/changed|newer/);
  });

  it('keeps the operation day immutable', async () => {
    const { database } = await createTestDatabase();
    const insert = statement(
      'test.flight',
      `insert into flight_schd (flid, version, operation_day, deleted, state, stamps, last_msg_id, updated_at)
       values ('1', 1, '2026-03-14', false, '{}', '{}', 1, now())`,
    );
    await database.query(insert);
    const move = statement('test.move', `update flight_schd set operation_day = '2026-03-15'`);
    await expect(database.query(move)).rejects.toThrow(/operation day of flight 1 is 2026-03-14/);
  });
});
