import { defineConfig } from 'vitest/config';

// Two projects: `unit` needs no service and starts no process and stays under 20 s; `service` runs against real servers,
// a file at a time per worker, each with databases of its own.
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [
            'test/**/*.db.test.ts',
            'test/**/*.process.test.ts',
            'test/scenarios/**',
            'test/console/**',
          ],
          // Unit tests share nothing that they change: one registry of modules serves them all, which halves the time.
          pool: 'threads',
          isolate: false,
          maxWorkers: 2,
        },
      },
      {
        test: {
          name: 'service',
          include: [
            'test/**/*.db.test.ts',
            'test/**/*.process.test.ts',
            'test/scenarios/**/*.test.ts',
            'test/console/**/*.test.ts',
          ],
          globalSetup: ['test/kit/global-setup.ts', 'test/kit/console-setup.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          maxWorkers: 2,
          // After the unit tests: groups of one order must agree on the number of workers.
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
