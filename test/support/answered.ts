import { appendFileSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { apiEndpoints } from '../../src/areas.ts'
import { plainPath } from '../../src/http/mount.ts'
import { Router } from '../../src/http/router.ts'

/** Where each test process notes which endpoints have answered well; the run's end reads it (answered-report.ts). */
export const answeredFolder = join(
  tmpdir(),
  `gitstead-answered-${process.env.GITSTEAD_TEST_RUN ?? 'alone'}`,
)

let router: Router | undefined
const noted = new Set<string>()

/** Notes that an endpoint gave a good answer. */
export function noteAnswer(method: string, path: string, status: number): void {
  if (status >= 400 || process.env.GITSTEAD_TEST_RUN === undefined) return
  router ??= new Router(apiEndpoints)
  const match = router.find(method, plainPath(path.split('?')[0] ?? ''))
  if (match.kind !== 'found') return
  const name = `${match.endpoint.method} ${match.endpoint.path}`
  if (noted.has(name)) return
  noted.add(name)
  mkdirSync(answeredFolder, { recursive: true })
  appendFileSync(join(answeredFolder, String(process.pid)), `${name}\n`)
}
