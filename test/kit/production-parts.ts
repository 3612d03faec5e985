/** The parts an airport has, a MariaDB and a Kafka for the whole test file, for pipelines of its own in them. */
import { afterAll } from 'vitest';
import { kafkaMissing, TestKafka } from './kafka.ts';
import { mariadb, mariadbMissing, type MariadbServer } from './mariadb.ts';
import { postgresMissing } from './postgres.ts';

/** Why one of them is missing, or null. Use as `describe.skipIf(productionMissing !== null)`. */
export const productionMissing: string | null = postgresMissing ?? mariadbMissing ?? kafkaMissing;

let broker: Promise<TestKafka> | null = null;

/** The broker of this test file, started when first asked for. */
export async function testKafka(): Promise<TestKafka> {
  return (broker ??= TestKafka.start());
}

/** Options of `createPipeline` for a pipeline from MariaDB to Kafka. */
export async function productionParts(): Promise<{
  readonly mariadb: MariadbServer;
  readonly kafka: TestKafka;
}> {
  const [server, kafka] = await Promise.all([mariadb(), testKafka()]);
  return { mariadb: server, kafka };
}

afterAll(async () => {
  await (await broker)?.dispose();
});
