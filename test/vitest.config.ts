import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: ['test/**/*.test.ts'],
    // Native modules are unsafe in worker threads.
    pool: 'forks',
    globalSetup: ['test/support/answered-report.ts'],
    // Vitest leaves one core to itself, which on two cores would halve the speed.
    maxWorkers: '100%',
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
})
