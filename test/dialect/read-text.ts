/** Decodes the text on stdin on the main thread, as the service does, and says what it would write for each flight. */
import { text } from 'node:stream/consumers';
import { createMetaXmlDialect } from '../../src/dialect/meta-xml/dialect.ts';
import { loadProfile } from '../../src/dialect/meta-xml/profile.ts';
import { effectsOf } from '../../src/domain/net-effect.ts';

const dialect = createMetaXmlDialect(await loadProfile('sis'), {
  timeZone: 'Asia/Shanghai',
  operationDayCutoff: '00:00',
  maxMessageBytes: 8 * 1024 * 1024,
  maxDepth: 64,
  ignore: [],
  reference: null,
});
const outcome = dialect.decode(await text(process.stdin));
const said =
  outcome.outcome === 'decoded'
    ? { outcome: 'decoded', flights: effectsOf(outcome.message).size }
    : { outcome: outcome.outcome, reason: outcome.reason };
console.log(JSON.stringify(said));
