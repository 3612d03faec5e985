/** What `#failpoint` is unless Node runs with `--conditions=msgx-failpoints`: nothing. A build has no call of it. */
import type { FailpointName } from './names.ts';

/** Marks a point at which a test can have the process killed. A statement of its own in a block: the build removes it. */
export const failpoint: (name: FailpointName) => void = () => undefined;
