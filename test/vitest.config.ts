import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: ['test/**/*.test.ts'],
    // Native modules are unsafe in worker threads.
    pool: 'forks',
    // Importing the sources anew for each file would take half of a run's time.
    isolate: false,
    globalSetup: ['test/support/answered-report.ts'],
    // Vitest leaves one core to itself, which on two cores would halve the speed.
    maxWorkers: '100%',
    // Most of a short run is reading the sources: what was translated once is kept beside node_modules.
    experimental: { fsModuleCache: true },
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
})
