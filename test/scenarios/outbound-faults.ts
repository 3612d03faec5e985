/** What a mailbox's owner can do to our inserts into COUTMSGS. */
import pg from 'pg';
import { mariadb } from '../kit/mariadb.ts';
import type { TestPipeline } from '../kit/service-pipeline.ts';
import type { Kind } from './request-sending.ts';

/** Has every insert refused until the function it gives is called. */
export async function refuseInserts(pipeline: TestPipeline, kind: Kind): Promise<() => Promise<void>> {
  const owner = await ownerOf(pipeline, kind);
  if (kind === 'MariaDB') {
    await owner.run(`create trigger refuse before insert on COUTMSGS for each row
      signal sqlstate '45000' set message_text = 'refused'`);
  } else {
    await owner.run(`create function refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$;
      create trigger refuse before insert on coutmsgs for each row execute function refuse()`);
  }
  return async () => {
    await owner.run(kind === 'MariaDB' ? 'drop trigger refuse' : 'drop trigger refuse on coutmsgs');
    await owner.end();
  };
}

interface Owner {
  run(sql: string): Promise<void>;
  end(): Promise<void>;
}

async function ownerOf({ mailboxSide }: TestPipeline, kind: Kind): Promise<Owner> {
  if (kind === 'MariaDB') {
    const session = await (await mariadb()).session(new URL(mailboxSide.url).pathname.slice(1));
    return {
      async run(sql) {
        await session.query(sql);
      },
      end: () => session.end(),
    };
  }
  const client = new pg.Client({ connectionString: mailboxSide.url, options: '-c search_path=public' });
  client.on('error', () => undefined);
  await client.connect();
  return {
    run: async (sql) => {
      await client.query(sql);
    },
    end: () => client.end(),
  };
}
