/**
 * The pages, in the order of the navigation: Now, Messages, Flights, Delivery, Backfill, Requests, Reference, Audit,
 * Health. The first is shown where the address names none.
 */
import { auditPage } from './audit/page.tsx';
import { backfillPage } from './backfill/page.tsx';
import { deliveryPage } from './delivery/page.tsx';
import { flightsPage } from './flights/page.tsx';
import { healthPage } from './health/page.tsx';
import { messagesPage } from './messages/page.tsx';
import { nowPage } from './now/page.tsx';
import type { ConsolePage } from './page.ts';
import { referencePage } from './reference/page.tsx';
import { requestsPage } from './requests/page.tsx';

export const PAGES: readonly [ConsolePage, ...ConsolePage[]] = [
  nowPage,
  messagesPage,
  flightsPage,
  deliveryPage,
  backfillPage,
  requestsPage,
  referencePage,
  auditPage,
  healthPage,
];
