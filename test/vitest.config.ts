import { readdirSync, readFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { defineConfig, type Plugin } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { root, setUpOrExit } from '../scripts/setup.mjs'
import { memoryFolder } from './support/memory-folder.ts'
import { isLong } from './support/runs.ts'

// The sources as they are now, where somebody runs a few tests after a change.
await setUpOrExit()

// Tests make and remove very many small files, which on some disks takes longer the more of them there were.
process.env.TMPDIR ??= memoryFolder() ?? tmpdir()

/** Files that take longest go first: begun last, one of them would run alone while the other workers have nothing to do. */
const longest = [
  'test/contract/',
  'test/http/',
  'test/torture/',
  'test/transport/crash.test.ts',
  'test/transport/wiki-crash.test.ts',
  'test/transport/clone-and-push.test.ts',
  'test/git/merge/merge-oracle.test.ts',
  'test/server/',
  'test/packages/virtual-registry.test.ts',
  'test/packages/conan.test.ts',
  'test/packages/maven.test.ts',
  'test/runner/',
  'test/packages/npm-clients.test.ts',
  'test/packages/nuget.test.ts',
  'test/web/every-page-drawn.test.ts',
  'test/web/day.test.ts',
  'test/instance/',
  'test/repositories/mirrors/',
  'test/clients/',
  'test/monitoring/sentry-clients.test.ts',
]

/** What the sources are compiled to is Node's to load, and nothing else is there. */
const compiled = new RegExp(`^${join(root, 'dist').replace(/[^\w/]/g, '\\$&')}/`)

/**
 * Sends imports of the sources to what they are compiled to: tests run what people run, and a worker loads it in less than half
 * of the time that translating the sources once more would take (docs/decisions/0062).
 */
const compiledSources: Plugin = {
  name: 'compiled-sources',
  enforce: 'pre',
  resolveId(imported, importer) {
    if (importer === undefined || !/^\.\.?\/.*\.tsx?$/.test(imported)) return undefined
    const path = relative(join(root, 'src'), join(importer, '..', imported))
    if (path.startsWith('..')) return undefined
    return join(root, 'dist', path.replace(/\.tsx?$/, '.js'))
  },
}

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const at = longest.findIndex((start) =>
        relative(this.ctx.config.root, moduleId).startsWith(start),
      )
      return at < 0 ? longest.length : at
    }
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b))
  }
}

/** The tests that go further in `npm run test:long`, which runs nothing else: those that ask how far. */
function searching(): string[] {
  return readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.test.ts'))
    .map((path) => join('test', path))
    .filter((path) => readFileSync(join(root, path), 'utf8').includes("support/runs.ts'"))
}

export default defineConfig({
  plugins: [compiledSources],
  test: {
    include: isLong ? searching() : ['test/**/*.test.ts'],
    server: { deps: { external: [compiled] } },
    root,
    globalSetup: [
      'test/support/answered-report.ts',
      'test/support/bundle-parts.ts',
      'test/support/migrated-database.ts',
    ],
    // Native modules are unsafe in worker threads.
    pool: 'forks',
    // Importing the sources anew for each file would take half of a run's time.
    isolate: false,
    // A worker would let its heap grow to three times of what is alive, and each program that a test starts costs time
    // in proportion to it. Most code runs a few times: interpreted, it would take longer than it
    // takes to compile plainly.
    execArgv: ['--heap-growing-percent=40', '--always-sparkplug'],
    // Vitest leaves one core to itself, which on two cores would halve the speed; one more than there are works while
    // others wait for a disk, a registry or a program.
    maxWorkers: availableParallelism() + 1,
    testTimeout: 30_000,
    // What is waited for comes at once, but not on a machine that is busy with other things.
    expect: { poll: { timeout: 10_000 } },
    hookTimeout: 60_000,
    sequence: { sequencer: LongestFirst },
    // Most of a short run is reading the sources: what was translated once is kept beside node_modules.
    experimental: { fsModuleCache: true },
  },
})
