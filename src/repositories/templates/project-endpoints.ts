import { z } from 'zod'
import { onProject, type Project } from '../../access/subjects.ts'
import { pageOf } from '../../base/page.ts'
import { notFound } from '../../base/problem.ts'
import { vendorWords } from '../../base/vendor.ts'
import type { Ctx } from '../../ctx.ts'
import { endpoint } from '../../http/endpoint.ts'
import { oneOf, text } from '../../http/params.ts'
import {
  findLicenseTemplate,
  findTemplate,
  licenseKeys,
  type PlainKind,
  templateNames,
} from './catalog.ts'
import { listDescriptions, readDescription } from './descriptions.ts'
import { licenseEntity, templateBrief, templateEntity } from './entity.ts'
import { licenseFor } from './look-up.ts'

const ciFolders = vendorWords('svc').ciTemplates
const types = ['dockerfiles', 'gitignores', 'licenses', 'issues', 'merge_requests'] as const
const type = oneOf([...types, ...ciFolders])

function plainKind(asked: string): PlainKind | undefined {
  if (asked === 'dockerfiles' || asked === 'gitignores') return asked
  return ciFolders.includes(asked) ? 'ci' : undefined
}

async function briefs(
  ctx: Ctx,
  project: Project,
  asked: string,
  signal: AbortSignal,
): Promise<z.input<typeof templateBrief>[]> {
  const kind = plainKind(asked)
  if (kind) return templateNames(kind).map((name) => ({ key: name, name }))
  if (asked === 'licenses') {
    return licenseKeys().map((key) => ({ key, name: findLicenseTemplate(key)?.name ?? key }))
  }
  const names = await listDescriptions(ctx, project, asked, signal)
  return names.map((name) => ({ key: name, name }))
}

export const listProjectTemplates = endpoint({
  method: 'GET',
  path: '/projects/:id/templates/:type',
  summary: 'List the templates of a type that a project may use, its own descriptions included',
  access: onProject('read_code'),
  params: { type },
  paginate: 'offset',
  response: z.array(templateBrief),
  handler: async ({ ctx, project, params, page, request }) =>
    pageOf(await briefs(ctx, project, params.type, request.signal), page),
})

export const getProjectTemplate = endpoint({
  method: 'GET',
  path: '/projects/:id/templates/:type/:name',
  summary: 'Get a template that a project may use',
  access: onProject('read_code'),
  params: { type, name: text({ max: 255 }) },
  query: { project: text({ max: 1000 }).optional(), fullname: text({ max: 1000 }).optional() },
  response: z.union([templateEntity, licenseEntity]),
  async handler({ ctx, project, params, query, request }) {
    const kind = plainKind(params.type)
    if (!kind && params.type === 'licenses') {
      return licenseFor(ctx, params.name, { project: project.name, ...query })
    }
    const found = kind
      ? findTemplate(kind, params.name)
      : await readDescription(ctx, project, params.type, params.name, request.signal)
    if (!found) throw notFound('Template')
    return found
  },
})
