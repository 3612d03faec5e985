/** The library's producer, with one request as clients are meant to send it. Loaded with the first batch. */
import { addPartitionsToTxnV3, compatibilityPartitioner, kGetApi, Producer } from '@platformatic/kafka';
import type { API, BaseOptions, Callback } from '@platformatic/kafka';

/**
 * From version 4 on AddPartitionsToTxn is a request between brokers, which asks for the right ClusterAction. The
 * library takes the newest version that both sides know; Kafka's own client stays at 3, and so do we.
 */
class ClientProducer extends Producer {
  override [kGetApi]<RequestArguments extends unknown[], ResponseType>(
    name: string,
    callback: Callback<API<RequestArguments, ResponseType>>,
  ): void {
    if (name !== 'AddPartitionsToTxn') {
      super[kGetApi](name, callback);
      return;
    }
    // The library's versions of a request take the same arguments and are chosen at run time.
    callback(null, addPartitionsToTxnV3.api as unknown as API<RequestArguments, ResponseType>);
  }
}

/** A transactional producer; `timeout` is how long the broker keeps its open transactions, ms. */
export function createProducer(
  options: BaseOptions & { readonly transactionalId: string; readonly timeout: number },
): Producer {
  return new ClientProducer({
    ...options,
    // Makes acks=all and one request in flight.
    idempotent: true,
    // The library's default takes the hash as unsigned, Kafka's masks the sign: they agree only where the number of
    // partitions is a power of two.
    partitioner: compatibilityPartitioner,
  });
}
