import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { apiEndpoints } from '../../src/areas.ts'
import { allExamples } from '../contract/examples.ts'
import { isLong } from './runs.ts'

/** Around a whole run: an endpoint that no test has seen answering well fails it. */
export function setup(): () => void {
  process.env.GITSTEAD_TEST_RUN = String(process.pid)
  const folder = join(tmpdir(), `gitstead-answered-${process.pid}`)
  return () => {
    const seen = new Set(
      existsSync(folder)
        ? readdirSync(folder).flatMap((name) =>
            readFileSync(join(folder, name), 'utf8').split('\n'),
          )
        : [],
    )
    rmSync(folder, { recursive: true, force: true })
    const names = apiEndpoints.map((endpoint) => `${endpoint.method} ${endpoint.path}`)
    const missing = names.filter((name) => !seen.has(name) && !allExamples[name]?.never)
    // A run of a few files says nothing about the others.
    if (isLong || namesFiles(process.argv.slice(2))) return
    process.stdout.write(
      `${names.length - missing.length} of ${names.length} endpoints were seen answering well, or never can\n`,
    )
    for (const name of missing) process.stdout.write(`  never: ${name}\n`)
    if (missing.length > 0) process.exitCode = 1
  }
}

/** Whether the command line names files, beside `run` and the values of options. */
function namesFiles(args: readonly string[]): boolean {
  return args.some(
    (arg, index) => !arg.startsWith('-') && arg !== 'run' && args[index - 1] !== '--config',
  )
}
