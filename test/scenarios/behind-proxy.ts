/** Pipelines with a proxy in front of one of their parts. */
import { createTestDatabase } from '../kit/postgres.ts';
import { productionParts, testKafka } from '../kit/production-parts.ts';
import type { PipelineOptions, Settings } from '../kit/service-pipeline.ts';
import { startProxy, targetOf, type TcpProxy } from '../kit/tcp-proxy.ts';

export const PARTS = ['own database', 'mailbox in PostgreSQL', 'mailbox in MariaDB', 'Kafka'] as const;

/** What stands behind the proxy. */
export type Part = (typeof PARTS)[number];

/** The proxy, and the options of a pipeline that goes through it; the settings leave all deadlines to others. */
export async function behindProxy(
  part: Part,
): Promise<{ readonly proxy: TcpProxy; readonly options: PipelineOptions; readonly settings: Settings }> {
  switch (part) {
    case 'own database': {
      const { url: databaseUrl } = await createTestDatabase();
      const proxy = await startProxy(targetOf(databaseUrl));
      return { proxy, options: { databaseUrl, proxies: { database: proxy } }, settings: {} };
    }
    case 'mailbox in PostgreSQL': {
      const { url: mailboxUrl } = await createTestDatabase({ blank: true });
      const proxy = await startProxy(targetOf(mailboxUrl));
      return { proxy, options: { mailboxUrl, proxies: { mailbox: proxy } }, settings: {} };
    }
    case 'mailbox in MariaDB': {
      const { mariadb } = await productionParts();
      const proxy = await startProxy(targetOf(mariadb.url('mysql')));
      return { proxy, options: { mariadb, proxies: { mailbox: proxy } }, settings: {} };
    }
    case 'Kafka': {
      const kafka = await testKafka();
      const { proxy, broker } = await kafka.proxy();
      const settings = { delivery: { kafka: { brokers: [broker] } } };
      return { proxy, options: { kafka, settings }, settings };
    }
  }
}
