import { featureLevel } from '../../access/features.ts'
import { findProjectById } from '../../access/find-queries.ts'
import type { Access, SubjectRequest } from '../../access/subjects.ts'
import { forbidden, hidden } from '../../base/problem.ts'
import { isReportingKey } from '../error-settings/queries.ts'
import { readHeader, unreadable } from './envelope.ts'

/** A program that shows a client key of the project (docs/contract/C-resolved §2.3). */
export interface Reporter {
  readonly projectId: number
  readonly key: string
}

/** Without a key 400; an unknown one, an unknown project, or one that takes no reports: 404; an archived one: 403. */
export function clientKey(): Access<Reporter, 'project_id'> {
  return {
    kind: 'custom',
    needs: 'a client key of error tracking',
    subjectFirst: true,
    before() {},
    async find(request) {
      const key = keyIn(request) ?? keyInDsn(await request.peek())
      if (key === undefined) throw unreadable()
      const { ctx } = request
      const projectId = Number(request.path.project_id)
      if (!Number.isSafeInteger(projectId)) throw hidden()
      if (!(await isReportingKey(ctx.db, projectId, key))) throw hidden()
      const project = await findProjectById(ctx.db, projectId)
      if (!project) throw hidden()
      const settings = JSON.parse(project.settings) as Record<string, unknown> // written by us
      if (featureLevel(settings, 'monitor') === 'disabled') throw hidden()
      // Whoever has the key may know that the project is there.
      if (project.archived === 1 || project.namespace_archived === 1) throw forbidden()
      return { projectId, key }
    },
  }
}

const KEY = /^\w{1,100}$/

function keyIn({ query, headers }: SubjectRequest): string | undefined {
  const inQuery = query.sentry_key
  if (typeof inQuery === 'string' && KEY.test(inQuery)) return inQuery
  for (const name of ['x-sentry-auth', 'authorization']) {
    const text = String(headers[name] ?? '').slice(0, 4096)
    const found = /sentry_key=(\w{1,100})/.exec(text)?.[1]
    if (found !== undefined) return found
  }
  return undefined
}

/** The `dsn` of an envelope's first line. */
function keyInDsn(head: Buffer): string | undefined {
  const dsn = head.length === 0 ? undefined : readHeader(head)?.dsn
  if (typeof dsn !== 'string' || !URL.canParse(dsn)) return undefined
  const { username } = new URL(dsn)
  return KEY.test(username) ? username : undefined
}
