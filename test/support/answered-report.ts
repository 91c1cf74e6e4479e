import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { apiEndpoints } from '../../src/areas.ts'

/** Around a whole run: tells at its end which endpoints no test has seen answering well. */
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
    const missing = names.filter((name) => !seen.has(name))
    // A run of a few files says nothing about the others.
    if (seen.size < names.length / 2) return
    process.stdout.write(
      `${names.length - missing.length} of ${names.length} endpoints were seen answering well\n`,
    )
    for (const name of missing) process.stdout.write(`  never: ${name}\n`)
  }
}
