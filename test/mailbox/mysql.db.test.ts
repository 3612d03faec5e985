import { describe } from 'vitest';
import { createMariadbMailbox, mariadbMissing, type MariadbFixture } from '../kit/mariadb.ts';
import { mailboxConformance } from '../kit/mailbox-conformance.ts';

describe.skipIf(mariadbMissing !== null)('mailbox in MariaDB', () => {
  mailboxConformance({
    create: () => createMariadbMailbox(),
    url: (fixture) => (fixture as MariadbFixture).options.url,
    seesWriters: true,
  });
});
