import { z } from 'zod'
import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { endpoint, type RequestFacts } from '../../http/endpoint.ts'
import { fault, instant, parameter, text } from '../../http/params.ts'
import { codeRead, commitsToBranch, defaultRef, onPush } from '../repository/access.ts'
import { commitChangelog } from './commit-changelog.ts'
import { generateSection, orUnprocessable } from './generate.ts'
import { asNotes } from './section.ts'

/** A text that has a version somewhere; whether it is one is looked at later (docs/contract/B-resolved §1.8 rule 1). */
function versionText(): z.ZodType<string> {
  return parameter({ type: 'string', example: '1.0.0' }, (raw) => {
    if (typeof raw !== 'string' || raw.includes('\0')) return fault.invalid
    if (raw.trim() === '') return fault.says('is empty')
    return /\d+\.\d+\.\d+/.test(raw) ? raw : fault.invalid
  })
}

const attributes = {
  version: versionText(),
  from: text().optional(),
  to: text().optional(),
  date: instant().optional(),
  trailer: text({ max: 255 }).default('Changelog'),
  config_file: text({ max: 4096 }).optional(),
  config_file_ref: text({ max: 1024 }).optional(),
}

function countRequest(ctx: Ctx, project: Project, request: RequestFacts): void {
  const perMinute = ctx.config.limitChangelogs
  request.countAgainst(
    { name: 'changelog', perMinute, scope: 'caller_and_subject', thing: 'This changelog' },
    project.id,
  )
}

export const getChangelog = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/changelog',
  summary: 'Make the changelog section of a version, without committing it',
  ...codeRead(),
  jobToken: true,
  query: attributes,
  response: z.strictObject({ notes: z.string() }),
  async handler({ ctx, project, query, request }) {
    countRequest(ctx, project, request)
    const input = { ...query, to: query.to || defaultRef(project) }
    const { section } = await orUnprocessable(generateSection(ctx, project, input, request.signal))
    return { notes: asNotes(section) }
  },
})

const MAY_NOT_COMMIT = 'You are not allowed to commit a changelog on this branch'

export const createChangelog = endpoint({
  method: 'POST',
  path: '/projects/:id/repository/changelog',
  summary: 'Make the changelog section of a version and commit it',
  access: onPush({ refusal: MAY_NOT_COMMIT }),
  body: {
    ...attributes,
    branch: text({ max: 1024 }).optional(),
    file: text({ max: 4096 }).default('CHANGELOG.md'),
    message: text().optional(),
  },
  conditions: [commitsToBranch(MAY_NOT_COMMIT)],
  response: z.strictObject({}),
  status: 200,
  async handler({ ctx, project, body, request }) {
    const branch = body.branch || (project.default_branch ?? '')
    countRequest(ctx, project, request)
    const input = {
      ...body,
      branch,
      to: body.to || `refs/heads/${branch}`,
      message: body.message || `Add changelog for version ${body.version}`,
    }
    await orUnprocessable(commitChangelog(ctx, project, input, request.signal))
    return {}
  },
})
