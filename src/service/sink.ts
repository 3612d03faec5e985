/** Opens the sink that the configuration names. */
import type { Config } from '../config/schema.ts';
import type { Sink } from '../delivery/port.ts';
import { JournalSink } from '../delivery/sinks/journal.ts';

/** Topic names with the airport filled in (contract, `delivery.kafka.topic-*`). */
export function topicsOf(config: Config): { readonly msg: string; readonly schd: string } {
  const name = (topic: string) => topic.replaceAll('{airport}', config.airport);
  return { msg: name(config.delivery.kafka.topicMsg), schd: name(config.delivery.kafka.topicSchd) };
}

/** Opens the sink; nothing is connected before the first send. Throws an Error where the target is not built in. */
export function openSink(config: Config): Sink {
  if (config.delivery.target !== 'journal') {
    throw new Error(
      `delivery.target ${config.delivery.target} is not available in this version: use journal`,
    );
  }
  return new JournalSink({
    directory: config.delivery.journal.dir,
    topics: topicsOf(config),
    timeoutMs: config.delivery.timeoutMs,
  });
}
